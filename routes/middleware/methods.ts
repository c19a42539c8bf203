import type { Hono } from "hono";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../context.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/**
 * The methods of a path, for the header `Allow`; empty if there is no such path. A route that names a
 * part of the path hides the matching routes with a parameter there.
 */
export function allowedMethods(app: Hono<AppEnv>, path: string): readonly string[] {
  const routes = METHODS.flatMap((method) => routesOf(app, method, path));
  const [closest] = routes.map((route) => kindsOf(route.path)).sort();
  const closestOnes = routes.filter((route) => kindsOf(route.path) === closest);
  const taken = new Set(closestOnes.map(({ method }) => method));
  if (taken.size === 0) return [];
  const listed = METHODS.filter((method) => taken.has(method));
  return [...listed.flatMap((method) => method === "GET" ? ["GET", "HEAD"] : [method]), "OPTIONS"];
}

/** For each part of a pattern, whether it is a name (0), a parameter (1) or takes the rest (2). */
function kindsOf(pattern: string): string {
  return pattern.split("/").map((part) => part.includes("{") ? 2 : part.startsWith(":") ? 1 : 0)
    .join("");
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
