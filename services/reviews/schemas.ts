import { z } from "zod";
import { MAX_BODY, MAX_TITLE } from "./limits.ts";
import { lineSchema, longTextSchema, trimmedLineSchema } from "../validation/schemas.ts";

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

/** The body of a request that needs nothing but an actor. */
export const actingSchema = z.object({ agent_id });

export type NewReview = z.infer<typeof newReviewSchema>;
export type NewComment = z.infer<typeof newCommentSchema>;
export type VerdictRequest = z.infer<typeof verdictSchema>;
