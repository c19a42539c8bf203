import { pageFields, timestampSchema } from "../../services/projects/schemas.ts";
import { z } from "../extended_zod.ts";
import { requiredCheckSchema } from "../../services/protection/schemas.ts";
import { DESCRIPTIONS, json } from "../schemas.ts";
import { workspaceConflictSchema } from "../../services/workspaces/schemas.ts";

export const REVIEW_STATUSES = [
  "pending",
  "approved",
  "changes_requested",
  "merged",
  "closed",
] as const;

const fields = {
  id: z.int(),
  title: z.string(),
  description: z.string(),
  status: z.enum(REVIEW_STATUSES),
  agent_id: z.string().openapi({ description: "The author" }),
  reviewers: z.array(z.string()).readonly().openapi({
    description: "Accounts that were asked for a verdict",
  }),
  files_changed: z.array(z.string()).readonly(),
  comment_count: z.int(),
  workspace: z.string().nullable(),
  ticket_uuid: z.string().openapi({ description: "The ticket that it resolves; empty for none" }),
  target_branch: z.string(),
  round: z.int().openapi({
    description: "From 1; each commit in the workspace begins the next one",
  }),
  merged_as: z.string().nullable().openapi({ description: "The check-in of the merge" }),
  created_at: timestampSchema,
  updated_at: timestampSchema,
};

/** A review as lists show it. */
export const reviewSchema = z.object(fields).openapi("Review");

/** A page of reviews. */
export const reviewListSchema = z.object({ reviews: z.array(reviewSchema), ...pageFields });

/** A comment of a review. */
export const commentSchema = z.object({
  id: z.int(),
  body: z.string(),
  file_path: z.string(),
  line_number: z.int().nullable(),
  side: z.enum(["old", "new"]).nullable(),
  round: z.int().openapi({ description: "The round of the comment" }),
  current: z.object({ file_path: z.string(), line_number: z.int() }).nullable().openapi({
    description: "Its line in the newest round; null if the line has changed or gone",
  }),
  author: z.string(),
  created_at: timestampSchema,
}).openapi("ReviewComment");

const verdictSchema = z.object({
  agent_id: z.string(),
  kind: z.string(),
  verdict: z.enum(["approved", "changes_requested"]),
  round: z.int(),
  given_at: timestampSchema,
}).openapi("ReviewVerdict");

/** A single review in full. */
export const reviewDetailSchema = z.object({
  ...fields,
  diff: z.string(),
  is_truncated: z.boolean().openapi({
    description: "Whether files are left out of the diff because it is too long",
  }),
  base: z.string().nullable(),
  tip: z.string().nullable().openapi({ description: "The check-in to merge" }),
  approvals: z.object({
    any: z.int(),
    people: z.int(),
    required: z.object({ any: z.int(), people: z.int() }),
  }),
  verdicts: z.array(verdictSchema).openapi({ description: "Standing verdicts" }),
  verdict_history: z.array(verdictSchema).openapi({
    description: "The newest 200 verdicts, oldest first, with those that no longer stand",
  }),
  rounds: z.array(z.object({
    round: z.int(),
    base: z.string(),
    tip: z.string(),
    started_at: timestampSchema,
  })),
  comments: z.array(commentSchema),
  required_checks: z.array(requiredCheckSchema).openapi({
    description: "The checks that the target branch demands; empty once the review is closed",
  }),
}).openapi("ReviewDetail");

const diffEndSchema = z.object({
  round: z.int().openapi({ description: "0 is the base" }),
  checkin: z.string(),
});

/** The changes between two rounds. */
export const roundDiffSchema = z.object({
  id: z.int(),
  from: diffEndSchema,
  to: diffEndSchema,
  diff: z.string(),
  is_truncated: z.boolean(),
  files: z.array(z.object({
    name: z.string(),
    change_type: z.enum(["added", "modified", "deleted", "renamed"]),
    prev_name: z.string().nullable(),
    uuid: z.string().nullable(),
    prev_uuid: z.string().nullable(),
    is_binary: z.boolean(),
    added: z.int(),
    deleted: z.int(),
    total_lines: z.int().nullable(),
    diff: z.string(),
    is_truncated: z.boolean(),
    unreadable: z.string().nullable(),
  })).readonly(),
  total: z.int().openapi({ description: "Files that differ, on all pages" }),
}).openapi("ReviewDiff");

/** The response 409 of a refused change of a review, or of its workspace. */
export const reviewConflict = {
  409: json(
    workspaceConflictSchema.extend({
      round: z.int().optional().openapi({ description: "The newest round" }),
    }).openapi("ReviewConflict"),
    DESCRIPTIONS[409],
  ),
};
