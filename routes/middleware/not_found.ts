import type { Context, Hono } from "hono";
import type { AppEnv } from "../context.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Answers a path that is not there with 404, and a method that is not there with 405. */
export function notFoundHandler(app: Hono<AppEnv>) {
  return function handleNotFound(context: Context<AppEnv>): Response {
    const { path, method } = context.req;
    const allowed = METHODS.filter((candidate) => hasRoute(app, candidate, path));
    if (allowed.length === 0) return context.json({ error: `There is no ${path} here` }, 404);
    const allow = allowed.flatMap((name) => name === "GET" ? ["GET", "HEAD"] : [name]).join(", ");
    return context.json({ error: `${path} does not take ${method}` }, 405, { Allow: allow });
  };
}

/** Whether a handler, not just a middleware for every method, stands at this path. */
function hasRoute(app: Hono<AppEnv>, method: string, path: string): boolean {
  const [matches] = app.router.match(method, path);
  return matches.some(([[, route]]) => route.method === method);
}
