import { createMiddleware } from "hono/factory";
import { Forbidden } from "../../services/kernel/errors.ts";
import type { AppEnv } from "../context.ts";

/**
 * Refuses requests from web pages of another origin, by headers that a browser sets and no page can
 * change: `Sec-Fetch-Site` (W3C Fetch Metadata), or else `Origin`. Other programs send neither and
 * pass.
 */
export function sameOrigin() {
  return createMiddleware<AppEnv>(async (context, next) => {
    if (isForeign(context.req.raw)) {
      throw new Forbidden("Web pages of other origins may not send this request");
    }
    await next();
  });
}

function isForeign({ url, headers }: Request): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site !== "same-origin" && site !== "none";
  const origin = headers.get("origin");
  return origin !== null && URL.parse(origin)?.host !== new URL(url).host;
}
