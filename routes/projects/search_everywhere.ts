import { ApiRoutes } from "../api_routes.ts";
import { z } from "../extended_zod.ts";
import { requireWords } from "../../services/work/search/mod.ts";
import { matchSchema, searchParameters } from "../../services/work/search/schemas.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { authenticate } from "../middleware/authenticate.ts";
import { errors, json } from "../schemas.ts";
import { specialRoute } from "../special_route.ts";

const findingSchema = z.object({
  projects: z.array(z.object({
    slug: z.string(),
    name: z.string(),
    base: z.string().openapi({ description: "The base of the project's repository API" }),
    total: z.int().openapi({ description: "Matches in this project" }),
    is_complete: z.boolean().openapi({
      description: "False while the project is being indexed: matches can be missing",
    }),
    matches: z.array(matchSchema).readonly().openapi({
      description: "The best five; the search of the project has all",
    }),
  })).openapi({ description: "Projects with matches, the one that changed last first" }),
  searched: z.int().openapi({ description: "How many projects this answer covers" }),
  unsearched: z.array(z.string()).readonly().openapi({
    description: "The slugs of those that could not be searched now, or not in time",
  }),
  left: z.int().openapi({ description: "How many projects are left" }),
  next: z.string().nullable().openapi({
    description: "The value of `after` with which the search goes on; null if nothing is left",
  }),
}).openapi("Finding");

/**
 * `GET /search`. It is open to every caller, so it is outside of `/v1/`, which refuses sessions and
 * project tokens.
 */
export function searchEverywhereRoutes(
  { hosting, config, ...credentials }: Pick<
    Services,
    "hosting" | "config" | "identity" | "webSessions" | "pagesHost"
  >,
) {
  const { content, description } = json(findingSchema, "What was found, by project");
  const searchEverywhere = specialRoute("GET /search", {
    operationId: "searchEverywhere",
    summary: "Full text search in all projects that you may read",
    description:
      "Takes any credential. Without one, it searches the public projects. The words are those " +
      "of the search of one project. An answer takes about two seconds at most and names at most " +
      "20 projects; with `after`, the next answer goes on where it ended. Browsers, which accept " +
      "HTML, get a web page.",
    request: {
      query: z.object({
        ...searchParameters,
        after: z.string().optional().openapi({ description: "`next` of the answer before" }),
      }),
    },
    responses: {
      200: { description, content: { ...content, "text/html": { schema: z.string() } } },
      ...errors(400),
    },
  }, authenticate(credentials, "bearer", "basic", "cookie", "guest"));
  return new ApiRoutes().openapi(searchEverywhere, async (context) => {
    const { q = "", kind, after } = context.req.valid("query");
    const query = requireWords(q);
    const { found, ...rest } = await hosting.search
      .search(context.get("principal"), { query, kind, after });
    const projects = found.map(({ held: { project: { slug, name } }, isComplete, ...result }) => ({
      slug,
      name,
      base: `/projects/${slug}/${config.projects.scm}`,
      total: result.total,
      is_complete: isComplete,
      matches: result.matches,
    }));
    return context.json({ projects, ...rest }, 200);
  });
}
