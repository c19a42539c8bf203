import { Context, type TypedResponse } from "hono";
import type { AppEnv } from "./environment.ts";

/** Where a route leaves an answer that comes later; see {@link hold}. */
export class HeldAnswer {
  /** Null if the request was answered at once. */
  response: Promise<Response> | null = null;
}

/**
 * Answers 200 with JSON, later. A request that waits for a minute costs memory: with its context and
 * its middleware three times as much as without. So these end at once, and the frame of the request
 * completes the answer when it comes.
 *
 * @param value must not refer to the context
 */
export function hold<Value>(
  { env: { held } }: Context<AppEnv>,
  value: Promise<Value>,
  headers: () => [string, string][] = () => [],
): Promise<TypedResponse<Value, 200, "json">> {
  const response = value.then((value) => Response.json(value, { headers: headers() }));
  if (held !== undefined) held.response = response;
  const first = held === undefined ? response : Promise.resolve(new Response(null));
  return first as Promise<unknown> as Promise<TypedResponse<Value, 200, "json">>;
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
