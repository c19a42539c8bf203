import { z } from "@hono/zod-openapi";

/**
 * The id of an artifact or a ticket: whole, or a prefix of at least 4 digits that no other id shares.
 * The engine answers an ambiguous prefix with 400, and an unknown or malformed one with 404; look for
 * anything by the whole id that it gives.
 */
export const idSchema = z.string().transform((id) => id.toLowerCase()).openapi({
  description: "The id, or a prefix of it that is unique",
  pattern: "^[0-9a-fA-F]{4,64}$",
});

/** The moment of something, as the contract writes it. */
export const timestampSchema = z.iso.datetime({ offset: true });

/** A check-in as lists show it. */
export const checkinSchema = z.object({
  uuid: z.string(),
  timestamp: timestampSchema,
  user: z.string(),
  comment: z.string(),
  branch: z.string(),
  tags: z.array(z.string()).readonly(),
  parents: z.array(z.string()).readonly().openapi({ description: "Primary parent first" }),
  is_merge: z.boolean(),
  is_leaf: z.boolean(),
  is_closed: z.boolean(),
}).openapi("Checkin");
