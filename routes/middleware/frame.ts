import type { Context, Hono } from "hono";
import { createMiddleware } from "hono/factory";
import { type Answered, recordAnswer, type Records, TrustedProxies } from "../../http/mod.ts";
import type { Config } from "../../services/config/mod.ts";
import type { AppEnv } from "../context.ts";
import { contextOf, type HeldRequest } from "../held_answers.ts";
import { identifyClient } from "./address.ts";
import { wantsHtml } from "./browsers.ts";
import { allowOrigins } from "./cors.ts";
import { errorBody } from "./error_body.ts";
import { answerOptions } from "./options.ts";
import { RoutePatterns } from "./route_patterns.ts";

export interface FrameOptions extends Records {
  readonly config: Pick<Config, "cors" | "limits" | "trusted_proxies">;
  readonly agents: { readonly halts: AppEnv["Variables"]["halts"] };
  /** Whether the body of a request is a file, which has a limit of its own. */
  readonly isFile: (context: Context<AppEnv>) => boolean;
  /** The patterns of the routes of resumable uploads. */
  readonly uploads: ReadonlySet<string>;
  /** Converts an exception to an answer. */
  readonly onError: (error: Error, context: Context<AppEnv>) => Response;
}

/** What an answer needs of its request when it is complete. */
interface Framed extends HeldRequest, Pick<Answered, "route" | "principal" | "address"> {
  /** By `performance.now()`. */
  readonly started: number;
}

/**
 * The common handling of every request, in one middleware because each one costs a few
 * microseconds: a request id of our own, sent in `X-Request-Id`; the client's address; the answer
 * to OPTIONS; the bound of a declared length; headers; and its line in the access log and the
 * metrics.
 */
export function frame(
  app: Hono<AppEnv>,
  { config, agents, isFile, uploads, onError, ...records }: FrameOptions,
) {
  const { cors: { origins }, limits: { body_bytes: maxBytes } } = config;
  const proxies = new TrustedProxies(config.trusted_proxies);
  const { halts } = agents;
  const patterns = new RoutePatterns();
  const complete = (response: Response, framed: Framed) => {
    const { request, requestId, started, route, principal, address } = framed;
    const { method } = request;
    const { headers, status } = response;
    tellBrowsers(headers);
    if (origins.length > 0) allowOrigins(headers, request, origins);
    headers.set("X-Request-Id", requestId);
    const milliseconds = performance.now() - started;
    recordAnswer(records, {
      method,
      route,
      status,
      milliseconds,
      requestId,
      principal,
      address,
    });
    return response;
  };
  // Outside the middleware, whose variables it would keep: its context among them.
  const completeLater = (response: Promise<Response>, framed: Framed) =>
    response.catch((error) => onError(error, contextOf(framed)))
      .then((response) => complete(response, framed));
  return createMiddleware<AppEnv>(async (context, next) => {
    const started = performance.now();
    const { mark, refusal = null } = context.env;
    const requestId = mark?.requestId ?? crypto.randomUUID();
    context.set("requestId", requestId);
    context.set("halts", halts);
    identifyClient(context, proxies);
    const answer = refusal !== null && !isPage(context)
      ? onError(refusal, context)
      : context.req.method === "OPTIONS"
      ? answerOptions(app, context, uploads)
      : refuseLong(context, maxBytes, isFile);
    if (answer === null) await next();
    else context.res = answer;
    const { env } = context;
    const framed: Framed = {
      request: context.req.raw,
      env,
      started,
      requestId,
      route: patterns.of(context),
      principal: context.get("principal"),
      address: context.get("address"),
    };
    const { held } = env;
    const later = held?.response ?? null;
    if (held === undefined || later === null) complete(context.res, framed);
    else held.response = completeLater(later, framed);
  });
}

/** Whether a request is for a page, which refuses it itself. */
function isPage(context: Context<AppEnv>): boolean {
  return context.req.method === "GET" && wantsHtml(context);
}

/**
 * Refuses a body whose declared length exceeds the limit, before reading it. A page refuses a form
 * itself, so that the person sees a page.
 */
function refuseLong(
  context: Context<AppEnv>,
  maxBytes: number,
  isFile: FrameOptions["isFile"],
): Response | null {
  const declared = context.req.raw.headers.get("content-length");
  if (declared === null || !(Number(declared) > maxBytes) || isFile(context)) return null;
  if (wantsHtml(context)) return null;
  return errorBody(context, 413, `The body is larger than ${maxBytes} bytes`);
}

/**
 * Tells browsers not to guess the type of an answer, and not to store answers that need a
 * credential.
 */
function tellBrowsers(headers: Headers): void {
  headers.set("X-Content-Type-Options", "nosniff");
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
}
