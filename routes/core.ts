import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context, Hono } from "hono";
import { bodyLimitsOf, BodyReader, modelBodyLimitsOf } from "../http/mod.ts";
import type { Services } from "../services/operation/daemon/mod.ts";
import type { AppEnv } from "./environment.ts";
import { EventStreams } from "./event_streams.ts";
import { fileRoutes, modelRoutes, patternOf, uploadPatterns } from "./file_routes.ts";
import { framedApp, newFraming } from "./framing.ts";
import { inOneTask, type RouteGroup } from "./group.ts";
import { createGroups, operationRooms } from "./groups.ts";
import { authenticate, type AuthenticateOptions, proveAgain } from "./middleware/authenticate.ts";
import { jsonBody } from "./middleware/body.ts";
import { ANTHROPIC_PATH } from "./middleware/error_body.ts";
import { browsersFirst, SHARED_PATHS, type SharedPages } from "./middleware/browsers.ts";
import { OperationRequests } from "./operation_requests.ts";
import { frameProjects } from "./projects/frame.ts";
import { ROUTES, type Trait } from "./table.ts";

/** The routes of the repository API. */
export type ProjectRoutes = OpenAPIHono<AppEnv>;

/** The HTTP API without the routes of the repository API, which are added once they are there. */
export interface Core {
  /** Answers requests that are for no operation on the server. */
  readonly app: Hono<AppEnv>;
  /** Answers any request. */
  fetch(request: Request, env: AppEnv["Bindings"]): Response | Promise<Response>;
  /** Answers a request that the app has no route for. */
  readonly notFound: (context: Context<AppEnv>) => Response;
  /** The event streams of all its routes, which share one limit. */
  readonly streams: EventStreams;
  /** Pages at the addresses of routes: browsers get these. The web pages add them. */
  readonly sharedPages: SharedPages;
  /** Adds the routes of the repository API; at most once. */
  addProjects(routes: ProjectRoutes): void;
}

/** Compiles the patterns of all routes, for which the first request would otherwise wait. */
export function prepareRoutes(app: Hono<AppEnv>): void {
  app.router.match("GET", "/healthz");
}

/** Every group of routes but the repository API's, behind the middleware that all of them share. */
export function createCore(services: Services): Core {
  const { config } = services;
  const base = `/projects/{slug}/${config.projects.scm}`;
  const isFile = fileRoutes(base);
  const framing = newFraming(services);
  const bodies = new BodyReader(bodyLimitsOf(config));
  const isOfModel = modelRoutes();
  const modelBodies = new BodyReader(modelBodyLimitsOf(config));
  const rooms = operationRooms(services);
  const operations = new OperationRequests({ services, framing, bodies, rooms });
  const { app, notFound } = framedApp(
    services,
    {
      framing,
      isLong: (context) => isFile(context) || isOfModel(context),
      uploads: uploadPatterns(base),
    },
    (path) => operations.routesAt(path),
  );
  const readBody = jsonBody({
    readerFor: (context) => isOfModel(context) ? modelBodies : bodies,
    onRead: proveAgain(services),
    isFile,
  });
  acceptQueryTokens(app, services);
  app.use(`${ANTHROPIC_PATH}*`, authenticate(services, "bearer", "basic", "api key"));
  app.use("/v1/*", inOneTask(authenticate(services, "bearer", "basic"), readBody));

  const sharedPages: SharedPages = new Map();
  for (const path of SHARED_PATHS) app.use(path, browsersFirst(sharedPages));
  const streams = newStreams(services);
  const placed = frameProjects(app, services, readBody);
  let projects: ProjectRoutes | null = null;
  const groups: Record<string, RouteGroup> = createGroups(
    services,
    { streams, rooms },
    () => assemble(Object.values(groups), { path: placed, projects }),
  );
  for (const group of Object.values(groups)) group.addTo(app);
  return {
    app,
    fetch: (request, env) => operations.answer(request, env) ?? app.fetch(request, env),
    notFound,
    streams,
    sharedPages,
    addProjects: (routes) => {
      projects = routes;
      app.route(placed, routes);
    },
  };
}

/** Loads all groups, and puts their routes and those of the repository API together. */
async function assemble(
  groups: readonly RouteGroup[],
  { path, projects }: { readonly path: string; readonly projects: ProjectRoutes | null },
): Promise<OpenAPIHono<AppEnv>> {
  const { ApiRoutes } = await import("./api_routes.ts");
  const whole = new ApiRoutes();
  for (const { load } of groups) {
    if (load !== null) whole.route("/", await load());
  }
  if (projects !== null) whole.route(path, projects);
  return whole;
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
    if (trait !== "token" && trait !== "token of streams") continue;
    const [, path = ""] = name.split(" ");
    app.use(patternOf(path), authenticate(services, "bearer", "basic", trait));
  }
}
