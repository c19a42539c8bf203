import type { Context } from "hono";
import type { TrustedProxies } from "../../http/mod.ts";
import type { AppEnv } from "../context.ts";

/**
 * Finds the client's address, and whether the client came over TLS. Another node that forwards the
 * request says both; else a trusted proxy does.
 */
export function identifyClient(context: Context<AppEnv>, trusted: TrustedProxies): void {
  const { remoteAddress, mark } = context.env;
  const { address, secure } = mark ?? trusted.identify(remoteAddress, context.req.raw);
  context.set("isProxied", !mark && trusted.includes(remoteAddress));
  context.set("address", address);
  context.set("secure", secure);
}
