import { z } from "zod";
import { TEXT_BOUNDS, TICKET_FIELD_TYPES } from "../fossil/front/mod.ts";
import { lineSchema, longTextSchema, trimmedLineSchema } from "../validation/schemas.ts";

/** Most entries of `fields` in one request. */
const MAX_FIELDS = 50;

const long = longTextSchema(TEXT_BOUNDS.field);
const title = trimmedLineSchema(1, TEXT_BOUNDS.title);
const word = lineSchema(0, 100);

/** Markups of a text. */
const mimetype = z.enum(["text/plain", "text/x-markdown", "text/x-fossil-wiki"], {
  error: 'must be "text/plain", "text/x-markdown" or "text/x-fossil-wiki"',
});

const comment = longTextSchema(TEXT_BOUNDS.comment).trim().min(1, { error: "must not be empty" });

const fields = z.record(z.string().regex(/^[A-Za-z_]\w{0,99}$/, { error: "is no field" }), long)
  .refine((record) => Object.keys(record).length <= MAX_FIELDS, {
    error: `must have at most ${MAX_FIELDS} fields`,
  }).describe(
    "Other fields that the repository's tickets have; GET /api/tickets/fields lists them",
  );

const words = {
  status: word.optional(),
  type: word.optional(),
  severity: word.optional(),
  priority: word.optional(),
  subsystem: word.optional(),
  resolution: word.optional(),
};

/** The body of a request that files a ticket. */
export const newTicketSchema = z.object({
  title,
  comment: long.default("").describe("The ticket's description"),
  ...words,
  fields: fields.optional(),
});

/** The body of a request that changes a ticket. */
export const ticketChangeSchema = z.object({
  title: title.optional(),
  body: long.optional().describe("Replaces the description"),
  comment: comment.optional().describe("Appended as a comment; leaves the description alone"),
  ...words,
  fields: fields.optional(),
});

/** The body of a request that defines a custom field. */
export const newFieldSchema = z.object({
  name: z.string().max(64, { error: "must have at most 64 characters" }).regex(
    /^[A-Za-z][A-Za-z0-9_]*$/,
    {
      error: 'must be a letter, then letters, digits and "_"',
    },
  ).describe('Not a built-in field, whatever the case, and not "tkt_" at the beginning'),
  type: z.enum(TICKET_FIELD_TYPES, { error: 'must be "text" or "number"' }).default("text"),
});

export const newCommentSchema = z.object({ comment, mimetype: mimetype.default("text/plain") });

/** Most changed files that a submission lists. */
const MAX_FILES = 1000;

/** The body of a request that submits work. */
export const submissionSchema = z.object({
  summary: long.default(""),
  workspace: trimmedLineSchema(0, 200).optional(),
  files_changed: z.array(lineSchema(1, 1000)).max(MAX_FILES, {
    error: `must have at most ${MAX_FILES} entries`,
  }).default([]),
  reviewers: z.array(z.string().trim().min(1).max(200)).max(20, {
    error: "must name at most 20 reviewers",
  }).default([]).describe("Accounts that are asked for a verdict on the workspace's review"),
});

export type NewTicket = z.infer<typeof newTicketSchema>;
export type TicketEdit = z.infer<typeof ticketChangeSchema>;
export type NewComment = z.infer<typeof newCommentSchema>;
export type SubmittedWork = z.infer<typeof submissionSchema>;
