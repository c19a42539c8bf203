import { forwardedFor } from "../../http/mod.ts";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../context.ts";

/**
 * Finds the client's address: that of the socket, or, where the socket belongs to a trusted proxy,
 * the last hop of `X-Forwarded-For` that is not a trusted proxy itself.
 */
export function clientAddress(trustedProxies: readonly string[]) {
  const trusted = new Set(trustedProxies);
  return createMiddleware<AppEnv>(async (context, next) => {
    const socket = context.env.remoteAddress;
    context.set("address", forwardedFor(socket, context.req.header("x-forwarded-for"), trusted));
    await next();
  });
}
