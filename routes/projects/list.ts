import { z } from "@hono/zod-openapi";
import type { Services } from "../../services/daemon/mod.ts";
import type { Action } from "../../services/identity/mod.ts";
import { accessOf, type HeldProject, viewOf } from "../../services/projects/mod.ts";
import { newRoutes } from "../context.ts";
import { authenticate } from "../middleware/authenticate.ts";
import { ownSettings } from "../project_settings.ts";
import { route } from "../route.ts";
import { errors, json } from "../schemas.ts";
import { pageFields, pageOf, pageParameters, rangeOf } from "./paging.ts";

const RIGHTS = ["read", "write", "status", "admin"] as const satisfies readonly Action[];

const reachableSchema = z.object({
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  visibility: z.enum(["public", "internal", "private"]),
  star_count: z.int(),
  archived: z.boolean(),
  created_at: z.iso.datetime(),
  channel: z.string(),
  ...ownSettings,
  rights: z.array(z.enum(RIGHTS)).openapi({ description: "The caller's rights" }),
  base: z.string().openapi({ description: "The base of the project's repository API" }),
}).openapi("ReachableProject");

/**
 * `GET /projects`: the projects that the caller may see. It is open to every caller, so it is
 * outside of `/v1/`, which refuses sessions and project tokens.
 */
export function projectListRoutes(
  { hosting: { projects }, config, ...credentials }: Pick<
    Services,
    "hosting" | "config" | "identity" | "webSessions"
  >,
) {
  const listProjects = route("GET /projects", {
    operationId: "getReachableProjects",
    summary: "The projects that you may see, and your rights in each",
    description: "Takes any credential. Without one, it shows the public projects.",
    request: { query: z.object(pageParameters) },
    responses: {
      200: json(
        z.object({ projects: z.array(reachableSchema), ...pageFields }).openapi("ProjectList"),
        "The projects, by slug",
      ),
      ...errors(400),
    },
  }, authenticate(credentials, "bearer", "basic", "cookie", "guest"));
  return newRoutes().openapi(listProjects, (context) => {
    const principal = context.get("principal");
    const page = context.req.valid("query");
    const { limit, offset } = rangeOf(page);
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
    return context.json({ projects: shown, ...pageOf(page, reachable.length) }, 200);
  });
}
