import { Context } from "hono";
import type { AppEnv } from "./environment.ts";

/** Where a route leaves an answer that comes later; see {@link hold}. */
export class HeldAnswer {
  /** Null if the request was answered at once. */
  response: Promise<Response> | null = null;
}

/**
 * Answers later. A request that waits for a minute costs memory: with its context and its middleware
 * three times as much as without. So these end at once, and the frame of the request completes the
 * answer when it comes.
 *
 * @param response must not refer to the context
 */
export function hold(
  { env: { held } }: Context<AppEnv>,
  response: Promise<Response>,
): Response | Promise<Response> {
  if (held === undefined) return response;
  held.response = response;
  return new Response(null);
}

/** What the answer to a request needs of it. */
export interface HeldRequest {
  readonly request: Request;
  readonly env: AppEnv["Bindings"];
  readonly requestId: string;
}

/** A fresh context of a request whose own has ended, for an answer that failed meanwhile. */
export function contextOf({ request, env, requestId }: HeldRequest): Context<AppEnv> {
  const { pathname: path } = new URL(request.url);
  const context = new Context<AppEnv>(request, { env, path });
  context.set("requestId", requestId);
  return context;
}
