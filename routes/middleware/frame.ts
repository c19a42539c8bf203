import type { Context, Hono } from "hono";
import { createMiddleware } from "hono/factory";
import { recordAnswer, type Records, TrustedProxies } from "../../http/mod.ts";
import type { Config } from "../../services/config/mod.ts";
import type { AppEnv } from "../context.ts";
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
}

/**
 * The common handling of every request, in one middleware because each one costs a few
 * microseconds: a request id of our own, sent in `X-Request-Id`; the client's address; the answer
 * to OPTIONS; the bound of a declared length; headers; and its line in the access log and the
 * metrics.
 */
export function frame(
  app: Hono<AppEnv>,
  { config, agents, isFile, uploads, ...records }: FrameOptions,
) {
  const { cors: { origins }, limits: { body_bytes: maxBytes } } = config;
  const proxies = new TrustedProxies(config.trusted_proxies);
  const { halts } = agents;
  const patterns = new RoutePatterns();
  return createMiddleware<AppEnv>(async (context, next) => {
    const started = performance.now();
    const requestId = crypto.randomUUID();
    context.set("requestId", requestId);
    context.set("halts", halts);
    identifyClient(context, proxies);
    const answer = context.req.method === "OPTIONS"
      ? answerOptions(app, context, uploads)
      : refuseLong(context, maxBytes, isFile);
    if (answer === null) await next();
    else context.res = answer;
    const { res } = context;
    tellBrowsers(res.headers);
    if (origins.length > 0) allowOrigins(context, origins);
    res.headers.set("X-Request-Id", requestId);
    recordAnswer(records, {
      method: context.req.method,
      route: patterns.of(context),
      status: res.status,
      milliseconds: performance.now() - started,
      requestId,
      principal: context.get("principal"),
      address: context.get("address"),
    });
  });
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
