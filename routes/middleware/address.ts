import { forwardedFor } from "../../http/mod.ts";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../context.ts";

/**
 * Finds the client's address: that of the socket, or, where the socket belongs to a trusted proxy,
 * the last hop of `X-Forwarded-For` that is not a trusted proxy itself. Finds out likewise whether
 * the client came over TLS, which a trusted proxy tells in `X-Forwarded-Proto`.
 */
export function clientAddress(trustedProxies: readonly string[]) {
  const trusted = new Set(trustedProxies);
  return createMiddleware<AppEnv>(async (context, next) => {
    const socket = context.env.remoteAddress;
    context.set("address", forwardedFor(socket, context.req.header("x-forwarded-for"), trusted));
    const told = trusted.has(socket) ? context.req.header("x-forwarded-proto") : undefined;
    const scheme = told ?? new URL(context.req.url).protocol.replace(":", "");
    context.set("secure", scheme.toLowerCase() === "https");
    await next();
  });
}
