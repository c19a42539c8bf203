import type { Context, Hono, MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { CREDENTIALS_MISSING } from "../../http/mod.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { Unauthorized } from "../../services/kernel/errors.ts";
import type { Principal } from "../../services/people/identity/mod.ts";
import { accessOf, type Projects } from "../../services/work/projects/mod.ts";
import type { AppEnv } from "../environment.ts";
import { addressForPrograms } from "../middleware/pages_host.ts";
import { authenticate } from "../middleware/authenticate.ts";
import { enterProject, enterProjectAgain } from "./access.ts";
import { answerSyncBelow, syncRefuser } from "./sync_answer.ts";
import { isSync } from "../sync_request.ts";

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

/**
 * Leads a browser from the address for `git` to the project's page, and `fossil` to its own address from
 * any other one of the project.
 */
function leadElsewhere(services: Services) {
  const { scm } = services.config.projects;
  const placeOf = (context: Context<AppEnv>) => {
    const slug = (context.req.param("repository") ?? "").replace(/\.git$/, "");
    return `/projects/${encodeURIComponent(slug)}`;
  };
  const refuse = syncRefuser(
    services,
    (context) =>
      `The address for fossil is ${addressForPrograms(context, services)}${
        placeOf(context)
      }/${scm}`,
  );
  return createMiddleware<AppEnv>(async (context, next) => {
    if (isSync(context.req)) return await refuse(context);
    const isForGit = context.req.param("repository")?.endsWith(".git") === true;
    if (!isForGit || context.req.method !== "GET") return await next();
    return context.redirect(placeOf(context), 303);
  });
}

/** The sentence for `git`, which asks at another address of a project than its own. */
export function gitAddress(
  context: Context<AppEnv>,
  services: Parameters<typeof addressForPrograms>[1],
): string {
  const name = context.req.param("repository") ?? context.req.param("slug") ?? "";
  const address = `${addressForPrograms(context, services)}/projects/${encodeURIComponent(name)}`;
  return `The address for git is ${address}.git`;
}

/** Tells `git`, which asks at another address of a project, the right one; it shows the sentence. */
function tellAddress(services: Services) {
  return createMiddleware<AppEnv>(async (context, next) => {
    if (context.req.method !== "GET") return await next();
    return context.text(`${gitAddress(context, services)}\n`, 404);
  });
}

/** Middleware that only requests run which change nothing. */
function forReading(middleware: MiddlewareHandler<AppEnv>) {
  return createMiddleware<AppEnv>(async (context, next) =>
    READING.has(context.req.method) ? await middleware(context, next) : await next()
  );
}

/**
 * Middleware that looks again what the caller may do once the body has arrived, which a client may
 * hold back until it has lost the right.
 */
function enterAgain(services: Services) {
  return createMiddleware<AppEnv>((context, next) => {
    if (context.get("body") !== undefined) enterProject(context, services);
    return next();
  });
}

/** Middleware for all but messages of sync, which hold their own credential. */
function unlessSync(middleware: MiddlewareHandler<AppEnv>) {
  return createMiddleware<AppEnv>(async (context, next) =>
    isSync(context.req) ? await next() : await middleware(context, next)
  );
}

/**
 * Adds to the app what comes before the routes of the repository API. A caller with a token, a
 * passphrase, a session or no credential reaches the projects that it may read; any other project
 * is 404.
 *
 * @param readBody reads the body of a request, after its caller is known
 * @returns where the routes belong
 */
export function frameProjects(
  app: Hono<AppEnv>,
  services: Services,
  readBody: MiddlewareHandler<AppEnv>,
): string {
  const { projects } = services.hosting;
  const base = `/projects/:slug/${services.config.projects.scm}`;
  const again = enterProjectAgain(services);
  const setAccess = createMiddleware<AppEnv>(async (context, next) => {
    const principal = context.get("principal");
    if (principal.kind === "guest" && !READING.has(context.req.method)) {
      requireVisible(projects, context.req.param("slug") ?? "", principal);
    }
    enterProject(context, services);
    context.set("enterAgain", again);
    await next();
  });
  app.use("/projects/:repository", leadElsewhere(services));
  app.use(`${base}/info/refs`, tellAddress(services));
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
    enterAgain(services),
  );
  return base;
}
