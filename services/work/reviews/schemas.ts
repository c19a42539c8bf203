import { z } from "zod";
import { checkinStatusSchema } from "../checks/schemas.ts";
import { lfsPointerSchema, pageFields, timestampSchema } from "../projects/schemas.ts";
import { requiredCheckSchema } from "../protection/schemas.ts";
import { lineSchema, longTextSchema, trimmedLineSchema } from "../../kernel/validation/schemas.ts";
import { workspaceConflictSchema } from "../workspaces/schemas.ts";
import { LANDING_STATUSES, MAX_BODY, MAX_TITLE, REVIEW_STATUSES } from "./records.ts";

/** Most files that a review names. */
const MAX_FILES = 5000;

const title = trimmedLineSchema(0, MAX_TITLE);
const description = longTextSchema(20_000);
const path = lineSchema(0, 1000);
const agent_id = z.string().max(200, { error: "must have at most 200 characters" }).optional()
  .describe("In whose name to act; by default your own, which an agent cannot change");

const reviewers = z.array(z.string().trim().min(1).max(200)).max(20, {
  error: "must name at most 20 reviewers",
}).describe("Accounts that are asked for a verdict; they must be able to write to the project");

/** The body of a request that opens a review. */
export const newReviewSchema = z.object({
  title,
  description: description.default(""),
  workspace: z.string().min(1).max(199).optional()
    .describe(
      "The workspace under review; the server then computes the diff and the files, and pins them to its tip",
    ),
  target_branch: trimmedLineSchema(1, 200).optional()
    .describe("The branch to merge into; by default, the main branch"),
  diff: z.string().max(1_000_000, { error: "must have at most 1000000 characters" }).optional()
    .describe("The change, if there is no workspace"),
  files_changed: z.array(path).max(MAX_FILES, { error: `must name at most ${MAX_FILES} files` })
    .default([]),
  ticket_uuid: z.string().max(64).optional().describe("The ticket that it resolves"),
  reviewers: reviewers.default([]),
  agent_id,
});

/** The body of a request that asks reviewers. */
export const reviewersSchema = z.object({ reviewers: reviewers.min(1), agent_id });

/** The body of a comment, on the whole review or on a line. */
export const newCommentSchema = z.object({
  body: longTextSchema(MAX_BODY),
  file_path: path.default(""),
  line_number: z.int().min(1).max(10_000_000).nullable().default(null),
  side: z.enum(["old", "new"], { error: 'must be "old" or "new"' }).default("new")
    .describe("Whether the line number counts lines before or after the change"),
  author: z.unknown().optional().describe("Ignored: the credential names the author"),
  agent_id,
});

const round = z.int().min(1).max(1_000_000).optional()
  .describe("The round that you reviewed; 409 if a newer one has begun");

/** The body of a verdict. */
export const verdictSchema = z.object({
  comment: longTextSchema(MAX_BODY).optional().describe("Becomes a comment of the review"),
  round,
  agent_id,
});

/** In whose name a request acts. */
export const actingSchema = z.object({ agent_id });

const fields = {
  id: z.int(),
  title: z.string(),
  description: z.string(),
  status: z.enum(REVIEW_STATUSES),
  agent_id: z.string().meta({ description: "The author" }),
  reviewers: z.array(z.string()).readonly().meta({
    description: "Accounts that were asked for a verdict",
  }),
  files_changed: z.array(z.string()).readonly(),
  comment_count: z.int(),
  workspace: z.string().nullable(),
  ticket_uuid: z.string().meta({ description: "The ticket that it resolves; empty for none" }),
  target_branch: z.string(),
  round: z.int().meta({
    description: "From 1; each commit in the workspace begins the next one",
  }),
  merged_as: z.string().nullable().meta({ description: "The check-in of the merge" }),
  created_at: timestampSchema,
  updated_at: timestampSchema,
};

/** A review as lists show it. */
export const reviewSchema = z.object(fields).meta({ id: "Review" });

/** A page of reviews. */
export const reviewListSchema = z.object({ reviews: z.array(reviewSchema), ...pageFields });

/** A comment of a review. */
export const reviewCommentSchema = z.object({
  id: z.int(),
  body: z.string(),
  file_path: z.string(),
  line_number: z.int().nullable(),
  side: z.enum(["old", "new"]).nullable(),
  round: z.int().meta({ description: "The round of the comment" }),
  current: z.object({ file_path: z.string(), line_number: z.int() }).nullable().meta({
    description: "Its line in the newest round; null if the line has changed or gone",
  }),
  author: z.string(),
  created_at: timestampSchema,
}).meta({ id: "ReviewComment" });

const givenVerdictSchema = z.object({
  agent_id: z.string(),
  kind: z.string(),
  verdict: z.enum(["approved", "changes_requested"]),
  round: z.int(),
  given_at: timestampSchema,
}).meta({ id: "ReviewVerdict" });

/** A single review in full. */
export const reviewDetailSchema = z.object({
  ...fields,
  diff: z.string(),
  is_truncated: z.boolean().meta({
    description: "Whether files are left out of the diff because it is too long",
  }),
  base: z.string().nullable(),
  tip: z.string().nullable().meta({ description: "The check-in to merge" }),
  approvals: z.object({
    any: z.int(),
    people: z.int(),
    required: z.object({ any: z.int(), people: z.int() }),
  }),
  verdicts: z.array(givenVerdictSchema).meta({ description: "Standing verdicts" }),
  verdict_history: z.array(givenVerdictSchema).meta({
    description: "The newest 200 verdicts, oldest first, with those that no longer stand",
  }),
  rounds: z.array(z.object({
    round: z.int(),
    base: z.string(),
    tip: z.string(),
    started_at: timestampSchema,
  })),
  comments: z.array(reviewCommentSchema),
  required_checks: z.array(requiredCheckSchema).readonly().meta({
    description: "The checks that the target branch demands; empty once the review is closed",
  }),
}).meta({ id: "ReviewDetail" });

/** How the checks of a review stand. */
export const reviewChecksSchema = checkinStatusSchema.extend({
  id: z.int().meta({ description: "The review" }),
  checkin: z.string().nullable().meta({ description: "Null if the review has no workspace" }),
  required_checks: reviewDetailSchema.shape.required_checks,
}).meta({ id: "ReviewChecks" });

const diffEndSchema = z.object({
  round: z.int().meta({ description: "0 is the base" }),
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
    prev_lfs: z.union([lfsPointerSchema, z.null()]),
    lfs: z.union([lfsPointerSchema, z.null()]),
  })).readonly(),
  total: z.int().meta({ description: "Files that differ, on all pages" }),
}).meta({ id: "ReviewDiff" });

/** What a review has become by a request. */
export const reviewStateSchema = z.object({
  id: z.int(),
  status: z.enum(REVIEW_STATUSES),
  title: z.string(),
  round: z.int(),
}).meta({ id: "ReviewState" });

export const givenApprovalSchema = reviewStateSchema.extend({
  reason: z.string().optional().meta({
    description: "What is missing; absent if the review is approved",
    example: "It has 1 of 2 approvals, 0 of 1 by people",
  }),
}).meta({ id: "GivenApproval" });

export const mergedReviewSchema = reviewStateSchema.extend({
  checkin: z.string().nullable().meta({
    description: "The merge; null if the review has no workspace",
  }),
}).meta({ id: "MergedReview" });

/** The body of the refusal of a change of a review, or of its workspace. */
export const reviewConflictSchema = workspaceConflictSchema.extend({
  round: z.int().optional().meta({ description: "The newest round" }),
}).meta({ id: "ReviewConflict" });

const landingSchema = z.object({
  review: z.int(),
  title: z.string(),
  agent_id: z.string().meta({ description: "The review's author" }),
  target_branch: z.string(),
  status: z.enum(LANDING_STATUSES),
  position: z.int().nullable().meta({ description: "From 1; null once it has ended" }),
  candidate: z.string().nullable().meta({
    description: "The merge that CI must test, and that lands",
  }),
  base: z.string().nullable().meta({
    description: "The check-in onto which the candidate was merged",
  }),
  reason: z.string().nullable().meta({ description: "Why the review came back from the queue" }),
  conflicts: z.array(z.object({ path: z.string(), kind: z.string() })).readonly(),
  contexts: z.array(z.string()).readonly().meta({
    description: "Contexts that failed, or that must still pass",
  }),
  checks: z.array(requiredCheckSchema).readonly().meta({
    description: "Required checks of the candidate; empty unless it is tested",
  }),
  queued_by: z.string(),
  queued_at: timestampSchema,
  ended_at: timestampSchema.nullable(),
}).meta({ id: "Landing" });

export const landingListSchema = z.object({ landing: z.array(landingSchema), ...pageFields });

export const landingStatusSchema = z.object({
  id: z.int().meta({ description: "The review" }),
  status: z.enum(LANDING_STATUSES),
  position: z.int().nullable(),
}).meta({ id: "LandingPlace" });

export type NewReview = z.infer<typeof newReviewSchema>;
export type NewComment = z.infer<typeof newCommentSchema>;
