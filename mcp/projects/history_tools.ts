import { z } from "zod";
import * as code from "../../services/work/code/operations.ts";
import {
  branchesSchema,
  checkinDetailSchema,
  checkinSchema,
} from "../../services/work/code/schemas.ts";
import { listCut, partShape } from "./parts.ts";
import { type Tool, tool } from "../tool.ts";

const getTimeline = tool({
  name: "get_timeline",
  description: "Lists check-ins, newest first. Use it to see what others did lately; then " +
    "get_checkin or get_diff shows one in detail.",
  does: code.getTimeline,
  input: {
    branch: z.string().default("").describe("Only check-ins of this branch; all if empty"),
    ...partShape(25, "check-ins"),
  },
  advice: { notFound: "list_branches names the branches" },
  output: { checkins: z.array(checkinSchema), total: z.int().describe("All check-ins") },
  async run({ branch, limit, offset }, project) {
    const { answer: { total }, entries } = await project.part(
      { limit, offset },
      (page) =>
        project.invoke(code.getTimeline, {
          branch: branch === "" ? undefined : branch,
          ...page,
        }),
      ({ checkins }) => checkins,
    );
    return {
      data: { checkins: entries, total },
      cuts: [listCut("checkins", "check-ins", { first: offset, total })],
    };
  },
});

const { files_changed, ...checkinFields } = checkinDetailSchema.shape;

const getCheckin = tool({
  name: "get_checkin",
  description: "Shows a check-in and the files that it changes. get_diff shows the changed lines.",
  does: code.getCheckin,
  input: {
    uuid: z.string().min(1).describe("Hash or prefix of it, branch or tag"),
    ...partShape(500, "files"),
  },
  output: {
    ...checkinFields,
    parent_uuid: z.string().nullable(),
    files_changed,
    total_files: z.int(),
  },
  advice: { notFound: "get_timeline lists check-ins" },
  async run({ uuid, limit, offset }, project) {
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

const listBranches = tool({
  name: "list_branches",
  description: "Lists the branches, open and closed, the one with the newest check-in first. A " +
    "workspace is the branch workspace/NAME.",
  does: code.listBranches,
  input: partShape(100, "branches"),
  output: { branches: branchesSchema.shape.branches, total: z.int() },
  async run({ limit, offset }, project) {
    const { branches } = await project.invoke(code.listBranches, {});
    const total = branches.length;
    return {
      data: { branches: branches.slice(offset, offset + limit), total },
      cuts: [listCut("branches", "branches", { first: offset, total })],
    };
  },
});

/** `get_timeline`, `get_checkin` and `list_branches`. */
export const historyTools: readonly Tool[] = [getTimeline, getCheckin, listBranches];
