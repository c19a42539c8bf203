import type { Context } from "hono";
import type { TrustedProxies } from "../../http/mod.ts";
import type { AppEnv } from "../context.ts";

/**
 * Finds the client's address, and whether the client came over TLS. A trusted proxy reports both,
 * in `X-Forwarded-For` and `X-Forwarded-Proto`.
 */
export function identifyClient(context: Context<AppEnv>, trusted: TrustedProxies): void {
  const socket = context.env.remoteAddress;
  const { url, headers } = context.req.raw;
  const isProxied = trusted.includes(socket);
  const hops = isProxied ? headers.get("x-forwarded-for") : null;
  context.set("address", trusted.clientOf(socket, hops));
  const scheme = isProxied ? headers.get("x-forwarded-proto") : null;
  context.set("secure", scheme === null ? /^https:/i.test(url) : scheme.toLowerCase() === "https");
}
