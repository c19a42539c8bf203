import { type Context, Hono } from "hono";
import { createMiddleware } from "hono/factory";
import type { Services } from "../services/operation/daemon/mod.ts";
import type { AppEnv } from "./environment.ts";
import { type Framed, Framing } from "./framing.ts";
import { errorHandler } from "./middleware/errors.ts";
import {
  answerOptions,
  notFoundHandler,
  RoutePatterns,
  type RoutesAt,
  routesOf,
} from "./middleware/methods.ts";
import { RememberingRouter } from "./remembering_router.ts";

interface FrameOptions {
  readonly framing: Framing;
  readonly agents: { readonly halts: AppEnv["Variables"]["halts"] };
  readonly space: AppEnv["Variables"]["space"];
  /** Whether the body of a request is a file, which has a limit of its own. */
  readonly isFile: (context: Context<AppEnv>) => boolean;
  /** The patterns of the routes of resumable uploads. */
  readonly uploads: ReadonlySet<string>;
}

/**
 * The common handling of every request, in one middleware because each one costs a few
 * microseconds: what {@link Framing} does, and the answer to OPTIONS.
 */
function frame(
  routesAt: RoutesAt,
  { framing, agents: { halts }, space, isFile, uploads }: FrameOptions,
) {
  const patterns = new RoutePatterns();
  return createMiddleware<AppEnv>(async (context, next) => {
    const { env, req } = context;
    const framed = framing.begin(req.raw, env);
    context.set("requestId", framed.requestId);
    context.set("halts", halts);
    context.set("space", space);
    context.set("isProxied", framing.isProxied(env));
    context.set("address", framed.address);
    context.set("secure", framed.secure);
    const answer = answerEarly(context, framed);
    if (answer === null) await next();
    else context.res = answer;
    framed.route = patterns.of(context);
    framed.principal = context.get("principal");
    framing.complete(context.res, framed);
  });

  function answerEarly(context: Context<AppEnv>, framed: Framed): Response | null {
    try {
      const isOptions = context.req.method === "OPTIONS";
      framing.requireAcceptable(framed, () => isOptions || isFile(context));
      return isOptions ? answerOptions(routesAt, context, uploads) : null;
    } catch (error) {
      return framing.refuse(error as Error, framed);
    }
  }
}

/** What every request has in common, by the configuration. */
export function newFraming(services: Services): Framing {
  return new Framing({ ...services, onError: errorHandler(services.log) });
}

/**
 * An app without routes, with the common handling of every request.
 *
 * @param elsewhere finds the routes that answer without the app, whose paths it knows thus
 */
export function framedApp(
  services: Services,
  options: Pick<FrameOptions, "framing" | "isFile" | "uploads">,
  elsewhere: RoutesAt = () => [],
) {
  const app = new Hono<AppEnv>({ strict: false, router: new RememberingRouter() });
  const ofApp = routesOf(app);
  const routesAt: RoutesAt = (path) => [...ofApp(path), ...elsewhere(path)];
  const notFound = notFoundHandler(routesAt);
  app.onError(errorHandler(services.log));
  app.notFound(notFound);
  app.use(frame(routesAt, { ...services, ...options }));
  return { app, notFound };
}
