import { z } from "../extended_zod.ts";
import { ownSettings } from "../../services/projects/schemas.ts";

/** A project as the operator's API shows it. */
export const projectSchema = z.object({
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  visibility: z.enum(["public", "internal", "private"]),
  star_count: z.int(),
  channel: z.string().openapi({ description: "The IRC channel of its events; empty for none" }),
  created_at: z.iso.datetime(),
  archived: z.boolean(),
  node: z.string().optional().openapi({
    description: "The node with its repository, if there are several",
  }),
  ...ownSettings,
}).openapi("Project");
