import {
  pageFields,
  pageOf,
  pageParameters,
  rangeOf,
} from "../../services/work/projects/schemas.ts";
import { ApiRoutes } from "../api_routes.ts";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { authenticate } from "../middleware/authenticate.ts";
import { errors, json } from "../schemas.ts";
import { reachableProjects } from "./project_api.ts";
import { reachableSchema } from "./reachable_schema.ts";
import { specialRoute } from "../special_route.ts";

/**
 * `GET /projects`: the projects that the caller may see. It is open to every caller, so it is
 * outside of `/v1/`, which refuses sessions and project tokens.
 */
export function projectListRoutes(
  { hosting, config, ...credentials }: Pick<
    Services,
    "hosting" | "config" | "identity" | "webSessions" | "pagesHost"
  >,
) {
  const { content, description } = json(
    z.object({ projects: z.array(reachableSchema), ...pageFields }).openapi("ProjectList"),
    "The projects, by slug",
  );
  const listProjects = specialRoute("GET /projects", {
    operationId: "listReachableProjects",
    summary: "The projects that you may see, and your rights in each",
    description:
      "Takes any credential. Without one, it shows the public projects. Browsers, which " +
      "accept HTML, get a web page.",
    request: { query: z.object(pageParameters) },
    responses: {
      200: { description, content: { ...content, "text/html": { schema: z.string() } } },
      ...errors(400),
    },
  }, authenticate(credentials, "bearer", "basic", "cookie", "guest"));
  return new ApiRoutes().openapi(listProjects, (context) => {
    const principal = context.get("principal");
    const page = context.req.valid("query");
    const found = reachableProjects({ hosting, config }, principal, rangeOf(page));
    return context.json({ projects: found.projects, ...pageOf(page, found.total) }, 200);
  });
}
