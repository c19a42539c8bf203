import { z } from "../extended_zod.ts";

/**
 * The id of an artifact or a ticket, or a unique prefix of at least 4 digits. The engine answers an
 * ambiguous prefix with 400, and an unknown or malformed one with 404. Resolve the id first, and
 * use only the whole id from then on.
 */
export const idSchema = z.string().transform((id) => id.toLowerCase()).openapi({
  description: "The id, or a unique prefix of it",
  pattern: "^[0-9a-fA-F]{4,64}$",
});

/** A time in the contract's format. */
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
