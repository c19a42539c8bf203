import { z } from "zod";
import { TEXT_BOUNDS } from "../../services/engines/fossil/front/mod.ts";
import * as workspaces from "../../services/work/workspaces/operations.ts";
import {
  committedSchema,
  detailedSchema,
  listedSchema,
  mergedSchema,
  overlapsSchema,
  stateSchema,
  workspaceSchema,
} from "../../services/work/workspaces/schemas.ts";
import { changeShape } from "./commit_tools.ts";
import { listCut, partShape } from "./parts.ts";
import { type Tool, tool } from "../tool.ts";
import { generationShape } from "./ticket_tools.ts";

const nameShape = { name: z.string().min(1).describe("The workspace") };

const OWN = "create_workspace makes one of your own";

const FIND = { notFound: "list_workspaces shows the workspaces" };

const listWorkspaces = tool({
  name: "list_workspaces",
  description: "Lists workspaces, newest first: who works on what, on how many files, and which " +
    "others change the same files (overlaps). get_my_work shows your own.",
  does: workspaces.listWorkspaces,
  input: {
    status: z.enum(["active", "merged", "abandoned", "all"]).default("active"),
    agent: z.string().min(1).max(200).optional()
      .describe('Only the workspaces of this agent or person; "me" is you'),
    ...partShape(25, "workspaces"),
  },
  output: { workspaces: z.array(listedSchema), total: z.int() },
  async run({ status, agent, limit, offset }, project) {
    const query = { status, owner: agent };
    const { answer: { total }, entries } = await project.part(
      { limit, offset },
      (page) => project.invoke(workspaces.listWorkspaces, { ...query, ...page }),
      (page) => page.workspaces,
    );
    return {
      data: { workspaces: entries, total },
      cuts: [listCut("workspaces", "workspaces", { first: offset, total })],
    };
  },
});

const getWorkspace = tool({
  name: "get_workspace",
  description:
    "Shows a workspace: its owner, ticket, base and tip, the files that it changes, and " +
    "which other workspaces change the same files, with the conflicts of a trial merge. get_diff " +
    "with workspace shows the changed lines.",
  does: workspaces.getWorkspace,
  input: { ...nameShape, ...partShape(500, "files") },
  output: {
    ...detailedSchema.shape,
    overlaps: overlapsSchema.shape.overlaps,
  },
  advice: FIND,
  async run({ name, limit, offset }, project) {
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

const createWorkspace = tool({
  name: "create_workspace",
  description:
    "Makes a workspace, a branch workspace/NAME of your own, for your commits. Claim the " +
    "ticket first and name it here. Then commit_files.",
  does: workspaces.createWorkspace,
  input: {
    name: z.string().min(1).max(199)
      .describe("Letters, digits, dots, underscores and hyphens, such as fix-login"),
    description: z.string().max(500).default("").describe("What you will do in it"),
    ticket: z.string().optional().describe("The ticket that it is for, which you have claimed"),
    from: z.string().optional().describe("The branch from which it starts; the main one if absent"),
    ...generationShape,
  },
  output: workspaceSchema.shape,
  advice: {
    notFound: "list_tickets shows the tickets, and list_branches the branches",
    conflict: "claim_ticket claims a ticket, and list_workspaces shows the names in use",
  },
  async run(body, project) {
    return { data: await project.invoke(workspaces.createWorkspace, body) };
  },
});

const updateWorkspace = tool({
  name: "update_workspace",
  description:
    "Merges another branch, by default the main one, into your workspace. Do this when " +
    "your work conflicts. If the error lists conflicts, call again with changes: for each path the " +
    "whole file as it should be.",
  does: workspaces.updateWorkspace,
  input: {
    ...nameShape,
    source: z.string().optional().describe("The branch to merge in; the main one if absent"),
    message: z.string().max(TEXT_BOUNDS.comment).optional(),
    ...changeShape,
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
    conflict:
      "If the error lists conflicts, call again with changes: for each path the whole file " +
      "as it should be",
    forbidden: OWN,
  },
  async run(input, project) {
    const made = await project.invoke(workspaces.updateWorkspace, input);
    const { name, uuid, parent, commits_made } = made;
    return { data: { name, uuid, parent, commits_made } };
  },
});

const mergeWorkspace = tool({
  name: "merge_workspace",
  description:
    "Merges a workspace into another branch, by default the main one, closes it and its " +
    "ticket. Branch protection may require an approved review and passed checks first. For an " +
    "approved review that CI must test, use land_review.",
  does: workspaces.mergeWorkspace,
  input: {
    ...nameShape,
    target_branch: z.string().optional().describe("The main branch if absent"),
    tip: z.string().optional()
      .describe("The tip that you know: the call fails if the workspace has a newer one"),
    message: z.string().max(TEXT_BOUNDS.comment).optional(),
    ...generationShape,
  },
  output: {
    name: mergedSchema.shape.name,
    status: mergedSchema.shape.status,
    target_branch: mergedSchema.shape.target_branch,
    uuid: mergedSchema.shape.uuid,
    tip: mergedSchema.shape.tip,
  },
  advice: {
    ...FIND,
    conflict: "For conflicts: update_workspace, then get it reviewed again",
    forbidden: "get_review shows what its review still needs; create_review opens one",
  },
  async run(input, project) {
    const merged = await project.invoke(workspaces.mergeWorkspace, input);
    const { name, status, target_branch, uuid, tip } = merged;
    return { data: { name, status, target_branch, uuid, tip } };
  },
});

const abandonWorkspace = tool({
  name: "abandon_workspace",
  description:
    "Closes your workspace without merging it. Its check-ins stay, and restore_workspace " +
    "opens it again. Your claim stays: release_ticket gives the ticket back.",
  does: workspaces.abandonWorkspace,
  hints: { destructiveHint: true },
  input: { ...nameShape, ...generationShape },
  output: stateSchema.shape,
  advice: FIND,
  async run(input, project) {
    return { data: await project.invoke(workspaces.abandonWorkspace, input) };
  },
});

const restoreWorkspace = tool({
  name: "restore_workspace",
  description: "Opens an abandoned workspace of yours again, with its check-ins.",
  does: workspaces.restoreWorkspace,
  input: { ...nameShape, ...generationShape },
  output: stateSchema.shape,
  advice: { notFound: 'list_workspaces with status "abandoned" shows them' },
  async run(input, project) {
    return { data: await project.invoke(workspaces.restoreWorkspace, input) };
  },
});

const takeOverWorkspace = tool({
  name: "take_over_workspace",
  description:
    "Makes the workspace of another agent yours, after you have claimed its ticket. Use it " +
    "to continue work that somebody left; else create_workspace.",
  does: workspaces.takeOverWorkspace,
  input: { ...nameShape, ...generationShape },
  output: stateSchema.shape,
  advice: FIND,
  async run(input, project) {
    return { data: await project.invoke(workspaces.takeOverWorkspace, input) };
  },
});

/** Workspaces: branches on which agents work. `commit_files` has a file of its own. */
export const workspaceTools: readonly Tool[] = [
  listWorkspaces,
  getWorkspace,
  createWorkspace,
  updateWorkspace,
  mergeWorkspace,
  abandonWorkspace,
  restoreWorkspace,
  takeOverWorkspace,
];
