import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import type { Action, Principal } from "../../services/identity/mod.ts";
import { accessOf, type HeldProject, viewOf } from "../../services/projects/mod.ts";
import { ownSettings } from "../project_settings.ts";

const RIGHTS = ["read", "write", "status", "admin"] as const satisfies readonly Action[];

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

/** A part of the projects that a principal may see, by slug, and their number. */
export function reachableProjects(
  { hosting: { projects }, config }: Pick<Services, "hosting" | "config">,
  principal: Principal,
  { limit, offset }: { readonly limit: number; readonly offset: number },
) {
  const rightsOf = (held: HeldProject) => {
    const access = accessOf(held, principal);
    return RIGHTS.filter((right) => access.may(right));
  };
  const reachable = projects.all().filter((held) => rightsOf(held).length > 0);
  const shown = reachable.slice(offset, offset + limit).map((held) => ({
    ...viewOf(held),
    rights: rightsOf(held),
    base: `/projects/${held.project.slug}/${config.projects.scm}`,
  }));
  return { projects: shown, total: reachable.length };
}
