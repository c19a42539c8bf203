import type { Services } from "../../services/operation/daemon/mod.ts";
import type { Action, Principal } from "../../services/people/identity/mod.ts";
import { accessOf, type HeldProject, viewOf } from "../../services/work/projects/mod.ts";

/** The rights that the list of projects names. */
export const RIGHTS = ["read", "write", "status", "admin"] as const satisfies readonly Action[];

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
