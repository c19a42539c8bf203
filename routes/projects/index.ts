import { z } from "@hono/zod-openapi";
import { json } from "../schemas.ts";
import { newProjectRoutes } from "./context.ts";
import { projectErrors, projectRoute } from "./route.ts";
import { PROJECT_ROUTES } from "./table.ts";

const getIndex = projectRoute("GET /api", {
  summary: "What this API has, for programs",
  responses: {
    200: json(
      z.object({
        endpoints: z.array(z.object({
          method: z.string(),
          path: z.string().openapi({ description: "Relative to the base" }),
          description: z.string(),
          needs: z.string().openapi({ description: "The right that it takes in the project" }),
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

/** `/api`, with a slash behind it or without: the table of routes, with their summaries. */
export function indexRoutes(
  { scm, summaryOf }: {
    readonly scm: string;
    /** What a route does in one sentence, once every route is known. */
    readonly summaryOf: (method: string, path: string) => string;
  },
) {
  return newProjectRoutes().openapi(getIndex, (context) => {
    const { slug } = context.get("access").project;
    const endpoints = Object.entries(PROJECT_ROUTES).map(([name, [, needs]]) => {
      const [method = "", path = ""] = name.split(" ");
      return { method, path, description: summaryOf(method, path), needs };
    });
    return context.json({
      endpoints,
      base: `/projects/${slug}/${scm}`,
      auth: "Authorization: Bearer TOKEN, or Basic with nick and passphrase",
      openapi: "/openapi.json",
    }, 200);
  });
}
