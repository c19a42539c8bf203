import { z } from "zod";
import { TEXT_BOUNDS } from "../../services/engines/fossil/front/mod.ts";
import * as workspaces from "../../services/work/workspaces/operations.ts";
import {
  committedSchema,
  detailedSchema,
  overlapsSchema,
} from "../../services/work/workspaces/schemas.ts";
import { changeShape } from "./commit_tools.ts";
import { listCut, partShape } from "../parts.ts";
import { type Tool, tool } from "../tool.ts";
import { generationShape } from "./ticket_tools.ts";

const workspaceShape = { workspace: z.string().min(1) };

const FIND = { notFound: "list_workspaces shows the workspaces" };

const getWorkspace = tool({
  name: "get_workspace",
  description:
    "Shows a workspace: its owner, ticket, base and tip, the files that it changes, and " +
    "which other workspaces change the same files, with the conflicts of a trial merge. get_diff " +
    "with workspace shows the changed lines.",
  does: workspaces.getWorkspace,
  input: { ...workspaceShape, ...partShape(500) },
  output: {
    ...detailedSchema.shape,
    overlaps: overlapsSchema.shape.overlaps,
  },
  advice: FIND,
  async run({ workspace: name, limit, offset }, project) {
    const { files, ...workspace } = await project.invoke(workspaces.getWorkspace, { name });
    const { overlaps } = await project.invoke(workspaces.getWorkspaceOverlaps, { name });
    return {
      data: { ...workspace, overlaps, files: files.slice(offset, offset + limit) },
      cuts: [
        listCut("files", "files", { first: offset, total: files.length }),
        { field: "overlaps", noun: "overlaps", total: overlaps.length },
      ],
    };
  },
});

const updateWorkspace = tool({
  name: "update_workspace",
  description:
    "Merges another branch, by default the main one, into your workspace. Do this when " +
    "your work conflicts. If the error lists hunks, call again with edits: for each hunk the lines " +
    "in its place; or with changes: for a path the whole file.",
  does: workspaces.updateWorkspace,
  input: {
    ...workspaceShape,
    source: z.string().optional().describe("The branch to merge in; the main one if absent"),
    message: z.string().max(TEXT_BOUNDS.comment).optional(),
    ...changeShape,
    edits: z.array(z.strictObject({ hunk: z.string(), new_text: z.string() })).max(1000).default([])
      .describe("The lines in place of each hunk that the error names"),
    ...generationShape,
  },
  output: {
    name: committedSchema.shape.name,
    uuid: committedSchema.shape.uuid,
    parent: committedSchema.shape.parent,
    commits_made: committedSchema.shape.commits_made,
  },
  advice: {
    ...FIND,
    conflict: "get_workspace shows its state",
    mergeConflict:
      "Call again: with edits, for each hunk {hunk, new_text}; with changes, for each other path " +
      "the whole file as it should be",
    forbidden: "start_work makes one of your own",
  },
  async run({ workspace: name, ...input }, project) {
    const made = await project.invoke(workspaces.updateWorkspace, { name, ...input });
    const { uuid, parent, commits_made } = made;
    return { data: { name: made.name, uuid, parent, commits_made } };
  },
});

/** `get_workspace` and `update_workspace`. */
export const workspaceTools: readonly Tool[] = [getWorkspace, updateWorkspace];
