import { timestampSchema } from "../../services/projects/schemas.ts";
import { z } from "../extended_zod.ts";

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
