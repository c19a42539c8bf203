/** The repository API: `/projects/{slug}/{scm}/api/…`. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { CREDENTIALS_MISSING } from "../../http/mod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { Unauthorized } from "../../services/errors.ts";
import type { Principal } from "../../services/identity/mod.ts";
import { accessOf, accessProject, type Projects } from "../../services/projects/mod.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import type { EventStreams } from "../event_streams.ts";
import { authenticate } from "../middleware/authenticate.ts";
import { archiveRoutes } from "./archives.ts";
import { batchRoutes } from "./batch.ts";
import { changeRoutes } from "./changes.ts";
import { checkinRoutes } from "./checkins.ts";
import { claimRoutes } from "./claims.ts";
import { checkRoutes } from "./checks.ts";
import { documentRoutes } from "./documents.ts";
import { fileRoutes } from "./files.ts";
import { eventRoutes } from "./events.ts";
import { indexRoutes } from "./index.ts";
import { landingRoutes } from "./landing.ts";
import { nameRoutes } from "./names.ts";
import { projectRoutes } from "./project.ts";
import { searchRoutes } from "./search.ts";
import { answerSyncBelow, syncRoutes } from "./sync.ts";
import { isSync } from "./sync_request.ts";
import { protectionRoutes } from "./protection.ts";
import { reviewerRoutes } from "./reviewers.ts";
import { reviewRoutes } from "./reviews.ts";
import { releaseRoutes } from "./releases.ts";
import type { ProjectGroup } from "./table.ts";
import { technoteRoutes } from "./technotes.ts";
import { ticketRoutes } from "./tickets.ts";
import { timelineRoutes } from "./timeline.ts";
import { uploadRoutes } from "./uploads.ts";
import { projectMirrorRoutes } from "./mirror.ts";
import { projectWebhookRoutes } from "./webhooks.ts";
import { wikiRoutes } from "./wiki.ts";
import { workspaceRoutes } from "./workspaces.ts";

/** The routes of each group of the table. */
export function createProjectGroups(
  services: Services,
  streams: EventStreams,
  summaryOf: (method: string, path: string) => string = () => "",
  whole: () => OpenAPIHono<AppEnv> | null = () => null,
): Record<ProjectGroup, OpenAPIHono<AppEnv>> {
  const { scm } = services.config.projects;
  return {
    sync: syncRoutes(services),
    index: indexRoutes({ scm, summaryOf }),
    project: projectRoutes(services),
    workspaces: workspaceRoutes(services),
    timeline: timelineRoutes(services),
    names: nameRoutes(services),
    reviews: reviewRoutes(services),
    reviewers: reviewerRoutes(services),
    landing: landingRoutes(services),
    events: eventRoutes(services, streams),
    wiki: wikiRoutes(services),
    checkins: checkinRoutes(services),
    files: fileRoutes(services),
    changes: changeRoutes(services),
    archives: archiveRoutes(services),
    search: searchRoutes(services),
    documents: documentRoutes(services),
    technotes: technoteRoutes(services),
    batch: batchRoutes(services, whole),
    tickets: ticketRoutes(services),
    claims: claimRoutes(services),
    checks: checkRoutes(services),
    protection: protectionRoutes(services),
    releases: releaseRoutes(services),
    uploads: uploadRoutes(services),
    mirror: projectMirrorRoutes(services),
    webhooks: projectWebhookRoutes(services),
  };
}

const READING: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Asks a guest for a credential before a change of a project that guests cannot see, whether or not
 * the project exists.
 *
 * @throws Unauthorized
 */
function requireVisible(projects: Projects, slug: string, guest: Principal): void {
  const held = projects.find(slug);
  if (held !== null && accessOf(held, guest).may("read")) return;
  throw new Unauthorized(CREDENTIALS_MISSING);
}

/** Middleware that only requests run which change nothing. */
function forReading(middleware: MiddlewareHandler<AppEnv>) {
  return createMiddleware<AppEnv>(async (context, next) =>
    READING.has(context.req.method) ? await middleware(context, next) : await next()
  );
}

/** Middleware for all but messages of sync, which hold their own credential. */
function unlessSync(middleware: MiddlewareHandler<AppEnv>) {
  return createMiddleware<AppEnv>(async (context, next) =>
    isSync(context.req) ? await next() : await middleware(context, next)
  );
}

export interface MountOptions {
  readonly streams: EventStreams;
  /** Reads the body of a request, after its caller is known. */
  readonly readBody: MiddlewareHandler<AppEnv>;
}

/**
 * Adds the repository API to the app. A caller with a token, a passphrase, a session or no
 * credential reaches the projects that it may read; any other project is 404.
 *
 * @returns the routes of the API
 */
export function mountProjects(
  app: OpenAPIHono<AppEnv>,
  services: Services,
  { streams, readBody }: MountOptions,
): OpenAPIHono<AppEnv> {
  const { projects } = services.hosting;
  const base = `/projects/:slug/${services.config.projects.scm}`;
  const setAccess = createMiddleware<AppEnv>(async (context, next) => {
    const slug = context.req.param("slug") ?? "";
    const principal = context.get("principal");
    if (principal.kind === "guest" && !READING.has(context.req.method)) {
      requireVisible(projects, slug, principal);
    }
    context.set("access", accessProject(projects, slug, principal));
    await next();
  });
  app.use(`${base}/*`, answerSyncBelow(services));
  app.use(
    base,
    unlessSync(authenticate(services, "bearer", "basic", "cookie", "guest")),
    forReading(setAccess),
  );
  app.use(
    `${base}/api/*`,
    authenticate(services, "bearer", "basic", "cookie", "guest", "token of streams"),
    setAccess,
    readBody,
  );
  const api = createProjectRoutes(services, streams);
  app.route(base, api);
  return api;
}

/** The routes of the repository API, from `/api` on. */
export function createProjectRoutes(
  services: Services,
  streams: EventStreams,
): OpenAPIHono<AppEnv> {
  const api = newRoutes();
  const summaries = new Map<string, string>();
  const summaryOf = (method: string, path: string) => summaries.get(`${method} ${path}`) ?? "";
  for (const group of Object.values(createProjectGroups(services, streams, summaryOf, () => api))) {
    api.route("/", group);
  }
  for (const definition of api.openAPIRegistry.definitions) {
    if (definition.type !== "route") continue;
    const { method, path, summary = "" } = definition.route;
    summaries.set(`${method.toUpperCase()} ${path === "/" ? "" : path}`, summary);
  }
  return api;
}
