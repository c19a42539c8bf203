import { z } from "../extended_zod.ts";
import { ownSettings } from "../../services/work/projects/schemas.ts";
import { RIGHTS } from "./project_api.ts";

/** A project with the rights of the caller. */
export const reachableSchema = z.object({
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  visibility: z.enum(["public", "internal", "private"]),
  star_count: z.int(),
  archived: z.boolean(),
  node: z.string().optional().openapi({
    description: "The node with its repository, if there are several",
  }),
  created_at: z.iso.datetime(),
  channel: z.string(),
  ...ownSettings,
  rights: z.array(z.enum(RIGHTS)).openapi({ description: "The caller's rights" }),
  base: z.string().openapi({ description: "The base of the project's repository API" }),
}).openapi("ReachableProject");
