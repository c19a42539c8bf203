import type { Hono } from "hono";
import type { AppEnv } from "../context.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The methods that a path takes, for the header `Allow`; none where there is no such path. */
export function allowedMethods(app: Hono<AppEnv>, path: string): readonly string[] {
  const taken = METHODS.filter((method) => hasRoute(app, method, path));
  if (taken.length === 0) return [];
  return [...taken.flatMap((method) => method === "GET" ? ["GET", "HEAD"] : [method]), "OPTIONS"];
}

/** Whether a handler, not just a middleware for every method, stands at this path. */
function hasRoute(app: Hono<AppEnv>, method: string, path: string): boolean {
  const [matches] = app.router.match(method, path);
  return matches.some(([[, route]]) => route.method === method);
}
