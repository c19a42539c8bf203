import { z } from "zod";
import * as code from "../../services/work/code/operations.ts";
import {
  checkinDetailSchema,
  diffSchema,
  historySchema,
} from "../../services/work/code/schemas.ts";
import { Invalid } from "../../services/kernel/errors.ts";
import { getWorkspace } from "../../services/work/workspaces/operations.ts";
import { checkinShape } from "./code_tools.ts";
import { linesOf } from "../budget.ts";
import { lineShape, listCut, partShape, plainPath } from "../parts.ts";
import type { ToolCall } from "../tool_call.ts";
import { type Tool, tool } from "../tool.ts";

const getDiff = tool({
  name: "get_diff",
  description:
    "Shows the changed lines between two check-ins, of one check-in, or of a workspace " +
    "against its base. For a review, use get_review.",
  does: code.getDiff,
  input: {
    from: z.string().optional().describe('The parent of "to" if absent'),
    to: z.string().optional().describe("The main branch if absent"),
    workspace: z.string().optional().describe("A workspace, in place of from and to"),
    path: z.string().optional().describe("A file or a directory"),
    context: z.int().min(0).max(100).default(3),
    start_line: z.int().min(1).default(1)
      .describe("Of the diff of the first file, to read on"),
    ...partShape(200),
  },
  output: {
    from: z.string(),
    to: z.string(),
    files: diffSchema.shape.files,
    total: z.int().describe("Changed files"),
    added: z.int().describe("Added lines in all files"),
    deleted: z.int(),
  },
  advice: { notFound: "get_timeline lists check-ins, and list_workspaces workspaces" },
  async run({ workspace, start_line, limit, offset, ...range }, project) {
    const { context } = range;
    const path = plainPath(range.path ?? "") || undefined;
    const { from, to } = await endsOf(project, workspace, range);
    const { files, ...ends } = await project.invoke(code.getDiff, {
      from,
      to,
      path,
      context,
    });
    const shown = files.slice(offset, offset + limit).map((file, index) =>
      index > 0 ? file : { ...file, diff: linesOf(file.diff).slice(start_line - 1).join("") }
    );
    const total = files.length;
    const cut = listCut("files", "files", { first: offset, total });
    const sum = (key: "added" | "deleted") => files.reduce((all, file) => all + file[key], 0);
    return {
      data: {
        ...ends,
        total,
        added: sum("added"),
        deleted: sum("deleted"),
        files: shown,
      },
      cuts: [{
        ...cut,
        next: (position) => ({ offset: position, ...(start_line > 1 ? { start_line: 1 } : {}) }),
        within: {
          field: "diff",
          next: (position, lines) => ({ offset: position, start_line: start_line + lines }),
        },
      }],
    };
  },
});

/** The ends of a diff: those of a workspace, or those that the call names. */
async function endsOf(
  project: ToolCall,
  workspace: string | undefined,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
) {
  if (workspace === undefined) return { from, to };
  if (from !== undefined || to !== undefined) {
    throw new Invalid('"workspace" stands in place of "from" and "to"');
  }
  const { base, tip } = await project.invoke(getWorkspace, { name: workspace, max_files: 0 });
  return { from: base, to: tip };
}

const historyFields = historySchema.shape.checkins.unwrap().element.shape;

const getFileHistory = tool({
  name: "get_file_history",
  description:
    "Lists the check-ins that changed a file, newest first, over renames. get_checkin and " +
    "get_diff show more of one.",
  does: code.getFileHistory,
  input: {
    path: z.string().min(1).describe("Such as src/main.c"),
    ...checkinShape,
    ...partShape(25),
  },
  output: {
    filepath: z.string(),
    history: z.array(z.object(historyFields)),
    total: z.int(),
  },
  advice: { notFound: "browse_code lists the files" },
  async run({ path: written, checkin, limit, offset }, project) {
    const { answer: { path, total }, entries } = await project.part(
      { limit, offset },
      (page) => project.invoke(code.getFileHistory, { path: plainPath(written), checkin, ...page }),
      ({ checkins }) => checkins,
    );
    return {
      data: { filepath: path, total, history: entries },
      cuts: [listCut("history", "check-ins", { first: offset, total })],
    };
  },
});

const getFileBlame = tool({
  name: "get_file_blame",
  description:
    "Shows for each line of a file the check-in that last changed it; get_checkin shows why.",
  does: code.getBlame,
  input: {
    path: z.string().min(1).describe("Such as src/main.c"),
    ...checkinShape,
    ...lineShape,
  },
  output: {
    filepath: z.string(),
    checkin: z.string(),
    lines: z.array(z.object({
      number: z.int(),
      uuid: z.string(),
      date: z.string(),
      user: z.string(),
      text: z.string(),
    })),
    total: z.int().describe("Lines of the file"),
  },
  advice: { notFound: "browse_code lists the files" },
  async run({ path: written, checkin: name, start_line, end_line }, project) {
    const query = { path: plainPath(written), checkin: name };
    const { path, checkin, lines } = await project.invoke(code.getBlame, query);
    const total = lines.length;
    const shown = lines.slice(start_line - 1, end_line).map((line) => ({
      number: line.number,
      uuid: line.uuid,
      date: line.timestamp,
      user: line.user,
      text: line.text,
    }));
    return {
      data: { filepath: path, checkin, total, lines: shown },
      cuts: [{
        field: "lines",
        noun: "lines",
        first: start_line - 1,
        total: Math.min(end_line ?? total, total),
        next: (position) => ({ start_line: position + 1 }),
      }],
    };
  },
});

const { files_changed, ...checkinFields } = checkinDetailSchema.shape;

const getCheckin = tool({
  name: "get_checkin",
  description: "Shows a check-in and the files that it changes. get_diff shows the changed lines.",
  does: code.getCheckin,
  input: {
    checkin: z.string().min(1).describe("Hash or prefix of it, branch or tag"),
    ...partShape(500),
  },
  output: {
    ...checkinFields,
    parent_uuid: z.string().nullable(),
    files_changed,
    total_files: z.int(),
  },
  advice: { notFound: "get_timeline lists check-ins" },
  async run({ checkin: uuid, limit, offset }, project) {
    const { files_changed, ...checkin } = await project.invoke(code.getCheckin, { uuid });
    const total = files_changed.length;
    return {
      data: {
        ...checkin,
        parent_uuid: checkin.parents[0] ?? null,
        total_files: total,
        files_changed: files_changed.slice(offset, offset + limit),
      },
      cuts: [listCut("files_changed", "files", { first: offset, total })],
    };
  },
});

/** `get_checkin`, `get_diff`, `get_file_history` and `get_file_blame`. */
export const changeTools: readonly Tool[] = [getCheckin, getDiff, getFileHistory, getFileBlame];
