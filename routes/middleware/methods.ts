import type { Hono } from "hono";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../context.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/**
 * The methods of a path, for the header `Allow`; empty if there is no such path. A route for
 * exactly this path hides matching routes with parameters.
 */
export function allowedMethods(app: Hono<AppEnv>, path: string): readonly string[] {
  const routes = METHODS.flatMap((method) => routesOf(app, method, path));
  const exact = routes.filter((route) => route.path === path);
  const taken = new Set((exact.length > 0 ? exact : routes).map(({ method }) => method));
  if (taken.size === 0) return [];
  const listed = METHODS.filter((method) => taken.has(method));
  return [...listed.flatMap((method) => method === "GET" ? ["GET", "HEAD"] : [method]), "OPTIONS"];
}

/** The patterns of a path's routes, as the router writes them, such as `/v1/agents/:nick`. */
export function routePatterns(app: Hono<AppEnv>, path: string): readonly string[] {
  return METHODS.flatMap((method) => routesOf(app, method, path)).map((route) => route.path);
}

/** The handlers of a path, without the middleware, which accepts every method. */
function routesOf(app: Hono<AppEnv>, method: string, path: string) {
  const [matches] = app.router.match(method, path);
  return matches.map(([[, route]]) => route).filter((route) => route.method === method);
}

/**
 * Answers 405 if a path does not support the method; otherwise a route with parameters might match.
 */
export function refuseOtherMethods(app: Hono<AppEnv>) {
  return createMiddleware<AppEnv>(async (context, next) => {
    const { method, path } = context.req;
    if (allowedMethods(app, path).includes(method)) return await next();
    return await context.notFound();
  });
}
