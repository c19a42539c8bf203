import type { Handler } from "hono";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../context.ts";

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
