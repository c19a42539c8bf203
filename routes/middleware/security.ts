import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../context.ts";

/**
 * Tells browsers to take every answer for what it says it is, and to keep none of those that only
 * a credential opens.
 */
export function securityHeaders() {
  return createMiddleware<AppEnv>(async (context, next) => {
    await next();
    const { headers } = context.res;
    headers.set("X-Content-Type-Options", "nosniff");
    if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
  });
}
