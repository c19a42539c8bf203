import type { Context } from "hono";
import { ApiRoutes } from "../api_routes.ts";
import type { AppEnv } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { viewOf } from "../../services/work/projects/mod.ts";
import { addressForPrograms } from "../middleware/pages_host.ts";
import { tableRoute } from "../route.ts";
import { projectErrors } from "./route.ts";
import { syncAnswerer, type SyncServices } from "./sync_answer.ts";
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
  operationId: "getRepositoryPage",
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
  operationId: "syncRepository",
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
  return new ApiRoutes()
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

/** What the page of a project shows. */
interface ProjectPage {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  /** The command that clones the project. */
  readonly clone: string;
  /** The base of its API. */
  readonly api: string;
}

/**
 * Shows a project at the URL of its repository: JSON to programs, and one line to the
 * `fossil` program, which follows that URL when its user mistypes a command. Browsers are led to the
 * project's page.
 */
function projectPage(context: Context<AppEnv>, page: ProjectPage): Response {
  context.header("Vary", "Accept, User-Agent");
  if (/^fossil\//i.test(context.req.header("user-agent") ?? "")) {
    return context.text(`Clone this project with: ${page.clone}\n`);
  }
  const accept = context.req.header("accept") ?? "";
  if (!accept.includes("text/html")) return context.json(page, 200);
  return context.redirect(`/projects/${page.slug}`, 303);
}
