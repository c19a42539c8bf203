import { z } from "zod";
import {
  TEXT_BOUNDS,
  TICKET_FIELD_TYPES,
  WORK_BOUNDS,
  WORK_FIELDS,
} from "../../engines/fossil/front/mod.ts";
import { htmlSchema, pageFields, timestampSchema } from "../projects/schemas.ts";
import { lineSchema, longTextSchema, trimmedLineSchema } from "../../kernel/validation/schemas.ts";

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
  }).refine((record) => WORK_FIELDS.every((name) => record[name] === undefined), {
    error: `must not have ${WORK_FIELDS.join(", ")}, which have fields of their own`,
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

/** The name of a ticket in a request. */
export const ticketIdSchema = z.string().transform((id) => id.toLowerCase()).meta({
  description: "The ticket: its number, its id, or a unique prefix of the id",
  pattern: "^#?[0-9a-fA-F]{1,64}$",
});

/** What gives work: who does it, what it is about, and what must be done before. */
const given = {
  assignee: lineSchema(0, TEXT_BOUNDS.name).optional().meta({
    description: "Who is to do it: a member of the project, `me` or `nobody`",
  }),
  labels: z.array(
    trimmedLineSchema(1, WORK_BOUNDS.label).regex(/^[^,]*$/, { error: "must have no comma" }),
  ).max(WORK_BOUNDS.labels, { error: `must have at most ${WORK_BOUNDS.labels} labels` })
    .optional().meta({ description: "All its labels, in any words without a comma" }),
  blocked_by: z.array(z.union([ticketIdSchema, z.int().min(1).transform(String)])).max(
    WORK_BOUNDS.blockers,
    {
      error: `must name at most ${WORK_BOUNDS.blockers} tickets`,
    },
  ).optional().meta({
    description: "All tickets that must be closed before somebody can claim it: numbers or ids",
  }),
};

/** The body of a request that files a ticket. */
export const newTicketSchema = z.object({
  title,
  comment: long.default("").describe("The ticket's description"),
  ...words,
  ...given,
  fields: fields.optional(),
});

/** The body of a request that changes a ticket. */
export const ticketChangeSchema = z.object({
  title: title.optional(),
  body: long.optional().describe("Replaces the description"),
  comment: comment.optional().describe("Appended as a comment; leaves the description alone"),
  ...words,
  ...given,
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

/** What a tool says of the generation of a claim: nothing, since all tools have the same. */
export const OF_GENERATION = "";

/** The field for the generation of a claim. */
export const generationField = z.int().min(1).max(2 ** 31 - 1).optional().meta({
  description: "The generation of the claim under which you work; also as the header " +
    "X-Claim-Generation. 409 if it is not the current one",
});

const numberSchema = z.int().nullable().meta({
  description: "Its number in the project, as in #12; null for a moment after a push brought it",
});

/** A ticket for which another one waits. */
const blockerSchema = z.object({
  uuid: z.string(),
  number: numberSchema,
  is_closed: z.boolean(),
}).meta({ id: "TicketBlocker" });

/** A ticket as lists show it. */
export const ticketRefSchema = z.object({
  uuid: z.string(),
  number: numberSchema,
  title: z.string(),
  status: z.string(),
  type: z.string(),
  subsystem: z.string(),
  priority: z.string(),
  severity: z.string(),
  assignee: z.string().meta({ description: "Who is to do it; empty for nobody" }),
  labels: z.array(z.string()).readonly(),
  blocked_by: z.array(blockerSchema).readonly().meta({
    description: "The tickets that must be closed before somebody can claim it",
  }),
  is_blocked: z.boolean().meta({ description: "Whether one of them is open, and it is itself" }),
  created: timestampSchema,
  last_modified: timestampSchema,
}).meta({ id: "TicketRef" });

/**
 * A claim: `ticket` and `agent` are the contract's names, `ticket_uuid` and `agent_id` upstream's.
 */
export const claimSchema = z.object({
  id: z.string(),
  ticket: z.string(),
  ticket_uuid: z.string(),
  ticket_number: numberSchema,
  agent: z.string(),
  agent_id: z.string(),
  status: z.string().meta({
    description: "claimed, submitted, released, merged, closed, lapsed, broken or revoked",
  }),
  workspace: z.string().nullable(),
  generation: z.int().meta({ description: "The number of the ticket's claim, from 1" }),
  claimed_at: timestampSchema,
  expires_at: timestampSchema,
  frozen_at: timestampSchema.nullable().meta({
    description: "Since when the lease stands still, because its holder is halted; or null",
  }),
}).meta({ id: "Claim" });

/** A page of a ticket's changes. */
export const ticketChangesSchema = z.object({
  ticket: z.string(),
  changes: z.array(z.object({
    uuid: z.string(),
    timestamp: timestampSchema,
    user: z.string(),
    fields: z.array(z.object({
      name: z.string(),
      value: z.string().meta({ description: "The new value, or the text that was appended" }),
      append: z.boolean(),
      previous: z.string().meta({
        description: "The value before; of one that was appended to, the first 1,000 characters",
      }),
    })).readonly(),
  })).readonly(),
  ...pageFields,
}).meta({ id: "TicketChanges" });

export const commentSchema = z.object({
  uuid: z.string(),
  timestamp: timestampSchema,
  user: z.string(),
  comment: z.string(),
  mimetype: z.string(),
  comment_html: htmlSchema,
}).meta({ id: "TicketComment" });

/** A ticket with its comments. */
export const ticketSchema = ticketRefSchema.extend({
  resolution: z.string(),
  body_html: htmlSchema,
  body: z.string().meta({ description: "The description" }),
  fields: z.record(z.string(), z.string()).readonly().meta({
    description: "Every field of the repository's tickets",
  }),
  comments: z.array(commentSchema).readonly().meta({ description: "Oldest first" }),
  claim: z.union([claimSchema, z.null()]).meta({ description: "The active claim" }),
  strikes: z.int().meta({ description: "Claims that ended without a result" }),
}).meta({ id: "Ticket" });

/** The error of a write that a claim refuses. */
export const claimRefusalSchema = z.object({
  error: z.string(),
  claimed_by: z.string().nullable().optional().meta({
    description: "Who holds the ticket; null if the claim has ended",
  }),
  claimed_at: timestampSchema.nullable().optional(),
  generation: z.int().optional(),
  expires_at: timestampSchema.optional(),
  blocked_by: z.array(blockerSchema).readonly().optional().meta({
    description: "The open tickets for which the ticket waits",
  }),
  next: z.array(z.string()).readonly().optional().meta({
    description: "If the ticket is not free: the next ones that you can claim",
  }),
}).meta({ id: "ClaimRefusal" });

/** The error of a claim by an agent that holds too many. */
export const tooManyClaimsSchema = z.object({
  error: z.string(),
  claims: z.array(z.object({
    project: z.string(),
    ticket: z.string(),
    expires_at: timestampSchema,
  })).readonly().meta({ description: "What the agent holds, oldest first" }),
}).meta({ id: "TooManyClaims" });

/** A page of tickets, and how many have each status. */
export const ticketListSchema = z.object({
  tickets: z.array(ticketRefSchema).readonly(),
  statuses: z.array(z.object({
    name: z.string(),
    count: z.int(),
    is_closed: z.boolean().meta({ description: "Whether the status closes a ticket" }),
  })).readonly().meta({
    description:
      "The tickets that match the other conditions, by status: the 100 most frequent ones",
  }),
  ...pageFields,
}).meta({ id: "TicketList" });

export const unclaimedSchema = z.object({
  tickets: z.array(ticketRefSchema).readonly(),
  total: z.int().meta({ description: "All such tickets, also beyond the limit" }),
}).meta({ id: "UnclaimedTickets" });

/** Tickets that wait for a person. */
export const struckTicketsSchema = z.object({
  tickets: z.array(ticketRefSchema.extend({ strikes: z.int() })).readonly(),
  ...pageFields,
}).meta({ id: "StruckTickets" });

/** A custom field. */
export const fieldSchema = z.object({ name: z.string(), type: z.enum(TICKET_FIELD_TYPES) })
  .meta({ id: "TicketField" });

export const fieldsSchema = z.object({
  ticket: z.array(z.string()).readonly().meta({ description: "Fields of the ticket" }),
  change: z.array(z.string()).readonly().meta({
    description: "Fields of each change, such as its comment",
  }),
  custom: z.array(fieldSchema).readonly().meta({
    description: "Those fields of the ticket that are not built in",
  }),
}).meta({ id: "TicketFieldNames" });

export const claimListSchema = z.object({
  claims: z.array(claimSchema).readonly(),
  ...pageFields,
}).meta({ id: "ClaimList" });

export const releasedSchema = claimSchema.extend({ released_at: timestampSchema })
  .meta({ id: "ReleasedClaim" });

/** Other services add fields, such as the number of the review. */
export const submittedSchema = claimSchema.extend({
  summary: z.string(),
  files_changed: z.array(z.string()).readonly(),
}).loose().meta({ id: "SubmittedClaim" });

export type NewTicket = z.infer<typeof newTicketSchema>;
export type TicketEdit = z.infer<typeof ticketChangeSchema>;
export type NewComment = z.infer<typeof newCommentSchema>;
export type SubmittedWork = z.infer<typeof submissionSchema>;
