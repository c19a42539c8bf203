import { z } from "@hono/zod-openapi";
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

/** A claim: `ticket` and `agent` are its fields in the contract, the others upstream's names. */
export const claimSchema = z.object({
  id: z.string(),
  ticket: z.string(),
  ticket_uuid: z.string(),
  agent: z.string(),
  agent_id: z.string(),
  status: z.string().openapi({
    description: "claimed, submitted, released, merged, lapsed, broken or revoked",
  }),
  workspace: z.string().nullable(),
  generation: z.int().openapi({ description: "The number of the ticket's claim, from 1" }),
  claimed_at: timestampSchema,
  expires_at: timestampSchema,
}).openapi("Claim");

export const commentSchema = z.object({
  uuid: z.string(),
  timestamp: timestampSchema,
  user: z.string(),
  comment: z.string(),
  mimetype: z.string(),
}).openapi("TicketComment");

/** A ticket with its comments. */
export const ticketSchema = ticketRefSchema.extend({
  resolution: z.string(),
  body: z.string().openapi({ description: "What the ticket says" }),
  fields: z.record(z.string(), z.string()).readonly().openapi({
    description: "Every field that tickets of the repository have",
  }),
  comments: z.array(commentSchema).readonly().openapi({ description: "Oldest first" }),
  claim: claimSchema.nullable().openapi({ description: "The claim that holds it now" }),
  strikes: z.int().openapi({ description: "Claims that ended without a result" }),
}).openapi("Ticket");

/** A refusal because of a claim. */
export const claimRefusalSchema = z.object({
  error: z.string(),
  claimed_by: z.string().nullable().optional().openapi({
    description: "Who holds the ticket; null where the claim has ended",
  }),
  claimed_at: timestampSchema.nullable().optional(),
  generation: z.int().optional(),
  expires_at: timestampSchema.optional(),
  next: z.array(z.string()).readonly().optional().openapi({
    description: "The next tickets that nobody has claimed, to the loser of a race",
  }),
}).openapi("ClaimRefusal");
