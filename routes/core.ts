import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Hono } from "hono";
import { bodyLimitsOf } from "../http/mod.ts";
import type { Services } from "../services/daemon/mod.ts";
import { accountRoutes } from "./v1/accounts.ts";
import { adminRoutes } from "./v1/admins.ts";
import { agentMessageRoutes } from "./v1/agent_messages.ts";
import { agentRoutes } from "./v1/agents.ts";
import { channelRoutes } from "./v1/channels.ts";
import { Completions } from "./v1/completions.ts";
import { type AppEnv, newRoutes } from "./context.ts";
import { EventStreams } from "./event_streams.ts";
import { fileRoutes, patternOf, uploadPatterns } from "./file_routes.ts";
import { eventRoutes } from "./v1/events.ts";
import { guideRoutes } from "./guide.ts";
import { haltRoutes } from "./v1/halt.ts";
import { healthRoutes } from "./health.ts";
import { heraldRoutes, heraldWebhookRoutes } from "./v1/herald.ts";
import { ircRoutes } from "./v1/irc.ts";
import { llmRoutes } from "./v1/llm.ts";
import { nodeRoutes } from "./v1/nodes.ts";
import { openAiRoutes } from "./v1/llm_openai.ts";
import { llmUsageRoutes } from "./v1/llm_usage.ts";
import { loginRoutes } from "./login.ts";
import { metricRoutes } from "./v1/metrics.ts";
import { jsonBody } from "./middleware/body.ts";
import { browsersFirst, type SharedPages } from "./middleware/browsers.ts";
import { errorHandler } from "./middleware/errors.ts";
import { frame } from "./middleware/frame.ts";
import { refuseOtherMethods } from "./middleware/methods.ts";
import { notFoundHandler } from "./middleware/not_found.ts";
import { authenticate, type AuthenticateOptions, proveAgain } from "./middleware/authenticate.ts";
import { openApiRoutes } from "./openapi.ts";
import { projectListRoutes } from "./projects/list.ts";
import { frameProjects } from "./projects/frame.ts";
import type { ProjectRoutes } from "./projects/project_api.ts";
import { mirrorRoutes } from "./v1/mirror.ts";
import { operationRoutes } from "./v1/operations.ts";
import { projectRoutes } from "./v1/projects.ts";
import { protectionRoutes } from "./v1/protection.ts";
import { settingsRoutes } from "./v1/settings.ts";
import { statusRoutes } from "./v1/status.ts";
import { questionRoutes } from "./v1/questions.ts";
import { type Group, ROUTES, type Trait } from "./table.ts";
import { tokenRoutes } from "./v1/tokens.ts";
import { webhookRoutes } from "./v1/webhooks.ts";

/** The HTTP API without the routes of the repository API, which are added once they are there. */
export interface Core {
  readonly app: OpenAPIHono<AppEnv>;
  /** The event streams of all its routes, which share one limit. */
  readonly streams: EventStreams;
  /** Pages at the addresses of routes: browsers get these. The web pages add them. */
  readonly sharedPages: SharedPages;
  /** Adds the routes of the repository API; at most once. */
  addProjects(routes: ProjectRoutes): void;
}

/** Compiles the patterns of all routes, for which the first request would otherwise wait. */
export function prepareRoutes(app: OpenAPIHono<AppEnv>): void {
  app.router.match("GET", "/healthz");
}

/** Every group of routes but the repository API's, behind the middleware that all of them share. */
export function createCore(services: Services): Core {
  const { config, log } = services;
  const app = newRoutes();
  const onError = errorHandler(log);
  app.onError(onError);
  app.notFound(notFoundHandler(app));

  const base = `/projects/{slug}/${config.projects.scm}`;
  const isFile = fileRoutes(base);
  app.use(frame(app, { ...services, isFile, uploads: uploadPatterns(base), onError }));
  const readBody = jsonBody({
    limits: bodyLimitsOf(config),
    onRead: proveAgain(services),
    isFile,
  });
  acceptQueryTokens(app, services);
  app.use("/v1/*", authenticate(services, "bearer", "basic"), readBody);
  app.use("/v1/agents/register", refuseOtherMethods(app));

  const sharedPages: SharedPages = new Map();
  app.use("/projects", browsersFirst(sharedPages));
  const streams = newStreams(services);
  for (const group of Object.values(createGroups(services, streams))) app.route("/", group);
  const placed = frameProjects(app, services, readBody);
  app.route("/", openApiRoutes(app));
  return { app, streams, sharedPages, addProjects: (routes) => void app.route(placed, routes) };
}

/** The routes of each group of the table, except those of the documentation. */
export function createGroups(
  services: Services,
  streams = newStreams(services),
): Record<Exclude<Group, "openapi">, Hono<AppEnv>> {
  const { config, metrics, status, identity, agents, bridge, llm, eventLog } = services;
  const completions = new Completions({ gateway: llm.gateway, identity });
  const bufferSize = config.bridge.buffer_size;
  return {
    health: healthRoutes(status),
    guide: guideRoutes(config),
    status: statusRoutes(status),
    metrics: metricRoutes(metrics),
    agents: agentRoutes(agents, services.slots),
    halt: haltRoutes(agents.halts),
    agentMessages: agentMessageRoutes(services),
    questions: questionRoutes(services),
    accounts: accountRoutes(services.ircAccounts),
    irc: ircRoutes(services),
    tokens: tokenRoutes(services),
    llm: llmRoutes(llm, completions),
    openai: openAiRoutes(llm, completions),
    llmUsage: llmUsageRoutes(services),
    admins: adminRoutes(services.admins),
    login: loginRoutes({ ...services, bodyLimits: bodyLimitsOf(config) }),
    channels: channelRoutes({ bridge, bufferSize, identity, agents, streams }),
    settings: settingsRoutes(services.policies, llm.backends),
    herald: heraldRoutes(services.herald),
    heraldWebhooks: heraldWebhookRoutes(services.herald, bodyLimitsOf(config)),
    events: eventRoutes({ eventLog, streams }),
    operations: operationRoutes(services),
    nodes: nodeRoutes(services.nodeOperations),
    projects: projectRoutes(services),
    projectList: projectListRoutes(services),
    protection: protectionRoutes(services),
    mirror: mirrorRoutes(services),
    webhooks: webhookRoutes(services),
  };
}

/** The event streams of all groups, which share one limit. */
export function newStreams(
  { config, identity, scheduler, metrics, draining }: Services,
): EventStreams {
  const { streams: max } = config.limits;
  return new EventStreams({ max, identity, scheduler, metrics, draining });
}

/** Also authenticates by the query if the table allows it, before the check of the header. */
function acceptQueryTokens(app: Hono<AppEnv>, services: AuthenticateOptions): void {
  const rows: [string, readonly [string, string, Trait?]][] = Object.entries(ROUTES);
  for (const [name, [, , trait]] of rows) {
    if (trait === undefined || trait === "file body") continue;
    const [, path = ""] = name.split(" ");
    app.use(patternOf(path), authenticate(services, "bearer", "basic", trait));
  }
}
