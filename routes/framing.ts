import { Context, Hono } from "hono";
import { createMiddleware } from "hono/factory";
import { getPathNoStrict } from "hono/utils/url";
import {
  allowOrigins,
  type Answered,
  recordAnswer,
  type Records,
  TrustedProxies,
} from "../http/mod.ts";
import { TooLarge } from "../services/kernel/errors.ts";
import type { Config } from "../services/operation/config/mod.ts";
import type { Services } from "../services/operation/daemon/mod.ts";
import type { Principal } from "../services/people/identity/mod.ts";
import type { AppEnv } from "./environment.ts";
import { wantsHtml } from "./middleware/browsers.ts";
import { errorHandler } from "./middleware/errors.ts";
import {
  answerOptions,
  notFoundHandler,
  RoutePatterns,
  type RoutesAt,
  routesOf,
} from "./middleware/methods.ts";
import { RememberingRouter } from "./remembering_router.ts";

export interface FramingOptions extends Records {
  readonly config: Pick<Config, "cors" | "limits" | "trusted_proxies">;
  /** Converts an exception to an answer. */
  readonly onError: (error: Error, context: Context<AppEnv>) => Response;
}

/** What an answer needs of its request when it is complete. */
export interface Framed extends Pick<Answered, "requestId"> {
  readonly request: Request;
  readonly env: AppEnv["Bindings"];
  /** By `performance.now()`. */
  readonly started: number;
  /** The client's address: another node that forwards the request says it, or a trusted proxy. */
  readonly address: string;
  /** Whether the client came over TLS; the same ones say it. */
  readonly secure: boolean;
  /** The pattern of its path, or `none`. */
  route: string;
  /** Undefined until its caller is authenticated. */
  principal: Principal | undefined;
}

/**
 * What every request has in common: a request id of our own, sent in `X-Request-Id`; the client's
 * address; the bound of a declared length; headers; and its line in the access log and the metrics.
 */
export class Framing {
  readonly #options: FramingOptions;
  readonly #proxies: TrustedProxies;

  constructor(options: FramingOptions) {
    this.#options = options;
    this.#proxies = new TrustedProxies(options.config.trusted_proxies);
  }

  /** Begins with a request, which no route is known to answer yet. */
  begin(request: Request, env: AppEnv["Bindings"]): Framed {
    const { remoteAddress, mark } = env;
    const { address, secure } = mark ?? this.#proxies.identify(remoteAddress, request);
    return {
      request,
      env,
      started: performance.now(),
      requestId: mark?.requestId ?? crypto.randomUUID(),
      address,
      secure,
      route: "none",
      principal: undefined,
    };
  }

  /** Whether a trusted proxy sent a request. */
  isProxied({ remoteAddress, mark }: AppEnv["Bindings"]): boolean {
    return !mark && this.#proxies.includes(remoteAddress);
  }

  /**
   * Refuses a request before anything of it is read: why it cannot be answered, or a declared length
   * above the limit. Pages refuse both themselves, so that a person sees a page.
   *
   * @param isLong whether the body has a limit of its own, as a file has
   * @throws ServiceError
   */
  requireAcceptable({ request, env }: Framed, isLong: () => boolean): void {
    const { refusal = null } = env;
    if (refusal !== null && !(request.method === "GET" && wantsHtml(request))) throw refusal;
    const { limits: { body_bytes: maxBytes } } = this.#options.config;
    const declared = request.headers.get("content-length");
    if (declared === null || !(Number(declared) > maxBytes)) return;
    if (isLong() || wantsHtml(request)) return;
    throw new TooLarge(`The body is larger than ${maxBytes} bytes`);
  }

  /** Completes an answer whose headers are known. */
  complete(response: Response, framed: Framed): Response {
    const { config: { cors: { origins } } } = this.#options;
    const { request, requestId, started, route, principal, address } = framed;
    const { method } = request;
    const { headers, status } = response;
    tellBrowsers(headers);
    if (origins.length > 0) allowOrigins(headers, request, origins);
    headers.set("X-Request-Id", requestId);
    const milliseconds = performance.now() - started;
    recordAnswer(this.#options, {
      method,
      route,
      status,
      milliseconds,
      requestId,
      principal,
      address,
    });
    return response;
  }

  /** The answer to a request that failed. */
  refuse(error: Error, framed: Framed): Response {
    return this.#options.onError(error, contextOf(framed));
  }
}

/** The context of a request for what answers errors. */
function contextOf({ request, env, requestId }: Framed): Context<AppEnv> {
  const context = new Context<AppEnv>(request, { env, path: getPathNoStrict(request) });
  context.set("requestId", requestId);
  return context;
}

/**
 * Tells browsers not to guess the type of an answer, and not to store answers that need a
 * credential.
 */
function tellBrowsers(headers: Headers): void {
  headers.set("X-Content-Type-Options", "nosniff");
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
}

interface FrameOptions {
  readonly framing: Framing;
  readonly agents: { readonly halts: AppEnv["Variables"]["halts"] };
  readonly space: AppEnv["Variables"]["space"];
  /** Whether the body of a request has a limit of its own, as a file has. */
  readonly isLong: (context: Context<AppEnv>) => boolean;
  /** The patterns of the routes of resumable uploads. */
  readonly uploads: ReadonlySet<string>;
}

/**
 * The common handling of every request, in one middleware because each one costs a few
 * microseconds: what {@link Framing} does, and the answer to OPTIONS.
 */
function frame(
  routesAt: RoutesAt,
  { framing, agents: { halts }, space, isLong, uploads }: FrameOptions,
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
      framing.requireAcceptable(framed, () => isOptions || isLong(context));
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
  options: Pick<FrameOptions, "framing" | "isLong" | "uploads">,
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
