import type { TrustedProxies } from "../../http/mod.ts";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../context.ts";

/**
 * Finds the client's address, and whether the client came over TLS, which a trusted proxy tells in
 * `X-Forwarded-Proto`.
 */
export function clientAddress(trusted: TrustedProxies) {
  return createMiddleware<AppEnv>(async (context, next) => {
    const socket = context.env.remoteAddress;
    context.set("address", trusted.clientOf(socket, context.req.header("x-forwarded-for")));
    const told = trusted.includes(socket) ? context.req.header("x-forwarded-proto") : undefined;
    const scheme = told ?? new URL(context.req.url).protocol.replace(":", "");
    context.set("secure", scheme.toLowerCase() === "https");
    await next();
  });
}
