import { z } from "../extended_zod.ts";
import { viewOf } from "../../services/work/projects/mod.ts";
import { newRoutes } from "../context.ts";
import { addressForPrograms } from "../middleware/pages_host.ts";
import { tableRoute } from "../route.ts";
import { projectErrors } from "./route.ts";
import { syncAnswerer, type SyncServices } from "./sync_answer.ts";
import { projectPage } from "./sync_page.ts";
import { specialRoute } from "../special_route.ts";

const binary = z.any().openapi({ type: "string", format: "binary" });
const message = {
  "application/x-fossil": { schema: binary },
  "application/x-fossil-uncompressed": { schema: binary },
  "application/x-fossil-debug": { schema: binary },
};

const projectSchema = z.object({
  name: z.string(),
  slug: z.string(),
  description: z.string(),
  clone: z.string().openapi({ description: "The command that clones it" }),
  api: z.string().openapi({ description: "The base of its API" }),
}).openapi("RepositoryPage");

const getPage = specialRoute("GET ", {
  summary: "The command that clones the project; browsers are led to its page",
  responses: {
    200: {
      content: {
        "application/json": { schema: projectSchema },
        "text/plain": { schema: z.string() },
      },
      description: "The project; a line of text for the `fossil` program",
    },
    303: { description: "The page, for browsers" },
    ...projectErrors(),
  },
});

const postMessage = tableRoute("POST ", {
  summary: "Exchange a message of `fossil clone`, `pull`, `push` or `sync`",
  description: "The URL to give to the `fossil` program. The credential is in the message, or in " +
    "the header. Errors of the exchange are in the answer, with status 200.",
  request: { body: { content: message, required: true } },
  responses: {
    200: { content: message, description: "The answer, in the type of the message" },
    ...projectErrors(400, 408, 413, 429),
  },
}, {
  schemes: ["apiToken", "adminToken", "agentToken", "passphrase"],
  isOpen: true,
  refusesHalted: false,
  middleware: [],
});

/** The URL of a project's repository: a page for browsers, and sync for the `fossil` program. */
export function syncRoutes(services: SyncServices) {
  const { scm } = services.config.projects;
  const answer = syncAnswerer(services);
  return newRoutes()
    .openapi(getPage, (context) => {
      const { name, slug, description } = viewOf(context.get("access").held);
      const url = `${addressForPrograms(context, services)}/projects/${slug}/${scm}`;
      const shown = {
        name,
        slug,
        description,
        clone: `fossil clone ${url} ${slug}.fossil`,
        api: `${url}/api`,
      };
      return projectPage(context, shown) as never;
    })
    .openapi(postMessage, async (context) => await answer(context) as never);
}
