import type { Context, Hono } from "hono";
import { createMiddleware } from "hono/factory";
import { TrustedProxies } from "../../http/mod.ts";
import type { Config } from "../../services/operation/config/mod.ts";
import type { AppEnv } from "../context.ts";
import { identifyClient } from "./address.ts";
import { wantsHtml } from "./browsers.ts";
import { Completion, type CompletionOptions, type Framed } from "./completion.ts";
import { errorBody } from "./error_body.ts";
import { answerOptions } from "./options.ts";
import { RoutePatterns } from "./route_patterns.ts";

export interface FrameOptions extends CompletionOptions {
  readonly config: Pick<Config, "cors" | "limits" | "trusted_proxies">;
  readonly agents: { readonly halts: AppEnv["Variables"]["halts"] };
  readonly space: AppEnv["Variables"]["space"];
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
  { config, agents, space, isFile, uploads, onError, ...records }: FrameOptions,
) {
  const { limits: { body_bytes: maxBytes } } = config;
  const proxies = new TrustedProxies(config.trusted_proxies);
  const { halts } = agents;
  const patterns = new RoutePatterns();
  const completion = new Completion({ ...records, config, onError });
  return createMiddleware<AppEnv>(async (context, next) => {
    const started = performance.now();
    const { mark, refusal = null } = context.env;
    const requestId = mark?.requestId ?? crypto.randomUUID();
    context.set("requestId", requestId);
    context.set("halts", halts);
    context.set("space", space);
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
    if (held === undefined || later === null) completion.complete(context.res, framed);
    else held.response = completeLater(completion, later, framed);
  });
}

/** Outside the middleware, whose variables it would keep: its context among them. */
function completeLater(
  completion: Completion,
  response: Promise<Response>,
  framed: Framed,
): Promise<Response> {
  return response.then(
    (response) => completion.complete(response, framed),
    (error) => completion.fail(error, framed),
  );
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
