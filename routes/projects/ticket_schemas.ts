import { z } from "../extended_zod.ts";
import { htmlSchema } from "./html.ts";
import { pageFields } from "./paging.ts";
import { timestampSchema } from "./schemas.ts";

/** A ticket as lists show it. */
export const ticketRefSchema = z.object({
  uuid: z.string(),
  title: z.string(),
  status: z.string(),
  type: z.string(),
  subsystem: z.string(),
  priority: z.string(),
  severity: z.string(),
  created: timestampSchema,
  last_modified: timestampSchema,
}).openapi("TicketRef");

/**
 * A claim: `ticket` and `agent` are the contract's names, `ticket_uuid` and `agent_id` upstream's.
 */
export const claimSchema = z.object({
  id: z.string(),
  ticket: z.string(),
  ticket_uuid: z.string(),
  agent: z.string(),
  agent_id: z.string(),
  status: z.string().openapi({
    description: "claimed, submitted, released, merged, closed, lapsed, broken or revoked",
  }),
  workspace: z.string().nullable(),
  generation: z.int().openapi({ description: "The number of the ticket's claim, from 1" }),
  claimed_at: timestampSchema,
  expires_at: timestampSchema,
  frozen_at: timestampSchema.nullable().openapi({
    description: "Since when the lease stands still, because its holder is halted; or null",
  }),
}).openapi("Claim");

/** A page of a ticket's changes. */
export const ticketChangesSchema = z.object({
  ticket: z.string(),
  changes: z.array(z.object({
    uuid: z.string(),
    timestamp: timestampSchema,
    user: z.string(),
    fields: z.array(z.object({
      name: z.string(),
      value: z.string().openapi({ description: "The new value, or the text that was appended" }),
      append: z.boolean(),
      previous: z.string().openapi({
        description: "The value before; of one that was appended to, the first 1,000 characters",
      }),
    })).readonly(),
  })).readonly(),
  ...pageFields,
}).openapi("TicketChanges");

export const commentSchema = z.object({
  uuid: z.string(),
  timestamp: timestampSchema,
  user: z.string(),
  comment: z.string(),
  mimetype: z.string(),
  comment_html: htmlSchema,
}).openapi("TicketComment");

/** A ticket with its comments. */
export const ticketSchema = ticketRefSchema.extend({
  resolution: z.string(),
  body_html: htmlSchema,
  body: z.string().openapi({ description: "The description" }),
  fields: z.record(z.string(), z.string()).readonly().openapi({
    description: "Every field of the repository's tickets",
  }),
  comments: z.array(commentSchema).readonly().openapi({ description: "Oldest first" }),
  claim: z.union([claimSchema, z.null()]).openapi({ description: "The active claim" }),
  strikes: z.int().openapi({ description: "Claims that ended without a result" }),
}).openapi("Ticket");

/** The error of a write that a claim refuses. */
export const claimRefusalSchema = z.object({
  error: z.string(),
  claimed_by: z.string().nullable().optional().openapi({
    description: "Who holds the ticket; null if the claim has ended",
  }),
  claimed_at: timestampSchema.nullable().optional(),
  generation: z.int().optional(),
  expires_at: timestampSchema.optional(),
  next: z.array(z.string()).readonly().optional().openapi({
    description: "If somebody else was faster: the next unclaimed tickets",
  }),
}).openapi("ClaimRefusal");

/** The error of a claim by an agent that holds too many. */
export const tooManyClaimsSchema = z.object({
  error: z.string(),
  claims: z.array(z.object({
    project: z.string(),
    ticket: z.string(),
    expires_at: timestampSchema,
  })).readonly().openapi({ description: "What the agent holds, oldest first" }),
}).openapi("TooManyClaims");
