import type { Handler } from "hono";
import { createMiddleware } from "hono/factory";
import { Forbidden } from "../../services/kernel/errors.ts";
import type { AppEnv } from "../environment.ts";

/** The addresses that a route shares with a page. */
export const SHARED_PATHS = ["/projects", "/search"] as const;

/** Pages at the addresses of routes, by path. */
export type SharedPages = Map<string, Handler<AppEnv>>;

/** Whether a request comes from a browser that shows the answer to a person. */
export function wantsHtml({ headers }: Pick<Request, "headers">): boolean {
  return headers.get("accept")?.includes("text/html") ?? false;
}

/** Middleware for an address that a route shares with a page: browsers get the page. */
export function browsersFirst(pages: ReadonlyMap<string, Handler<AppEnv>>) {
  return createMiddleware<AppEnv>(async (context, next) => {
    const { method, path } = context.req;
    const page = method === "GET" && wantsHtml(context.req.raw) ? pages.get(path) : undefined;
    if (page === undefined) return await next();
    return await page(context, next);
  });
}

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
