import type { OpenAPIHono } from "@hono/zod-openapi";
import { ApiRoutes } from "../api_routes.ts";
import type { AppEnv } from "../environment.ts";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { json } from "../schemas.ts";
import { projectErrors } from "./route.ts";
import { PROJECT_ROUTES } from "./table.ts";
import { specialRoute } from "../special_route.ts";

const getIndex = specialRoute("GET /api", {
  operationId: "getRepositoryIndex",
  summary: "List the endpoints of this API, for programs",
  responses: {
    200: json(
      z.object({
        endpoints: z.array(z.object({
          method: z.string(),
          path: z.string().openapi({ description: "Relative to the base" }),
          description: z.string(),
          needs: z.string().openapi({ description: "The required right in the project" }),
        })),
        base: z.string(),
        auth: z.string(),
        openapi: z.string(),
      }).openapi("RepositoryIndex"),
      "The endpoints",
    ),
    ...projectErrors(),
  },
});

/** `/api`, with or without a final slash: the table of routes, with their summaries. */
export function indexRoutes(
  { config: { projects: { scm } } }: Pick<Services, "config">,
  api: () => OpenAPIHono<AppEnv>,
) {
  return new ApiRoutes().openapi(getIndex, (context) => {
    const { slug } = context.get("access").project;
    const summaries = summariesOf(api());
    const endpoints = Object.entries(PROJECT_ROUTES).map(([name, [, needs]]) => {
      const [method = "", path = ""] = name.split(" ");
      return { method, path, description: summaries.get(name) ?? "", needs };
    });
    return context.json({
      endpoints,
      base: `/projects/${slug}/${scm}`,
      auth: "Authorization: Bearer TOKEN, or Basic with nick and passphrase",
      openapi: "/openapi.json",
    }, 200);
  });
}

/** The summary of each route, by its name in the table. */
function summariesOf({ openAPIRegistry }: OpenAPIHono<AppEnv>): ReadonlyMap<string, string> {
  return new Map(openAPIRegistry.definitions.flatMap((definition) => {
    if (definition.type !== "route") return [];
    const { method, path, summary = "" } = definition.route;
    return [[`${method.toUpperCase()} ${path === "/" ? "" : path}`, summary]];
  }));
}
