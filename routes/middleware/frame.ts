import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../environment.ts";
import type { Framed, Framing } from "../framing.ts";
import type { RoutesAt } from "./methods.ts";
import { answerOptions } from "./options.ts";
import { RoutePatterns } from "./route_patterns.ts";

export interface FrameOptions {
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
export function frame(
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
