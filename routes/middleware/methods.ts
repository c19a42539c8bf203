import type { Hono } from "hono";
import type { AppEnv } from "../environment.ts";

export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** A route, with its path as the router writes it, such as `/v1/agents/:nick`. */
export interface RoutePlace {
  readonly method: string;
  readonly path: string;
}

/** Finds the routes of every method that match a path. */
export type RoutesAt = (path: string) => readonly RoutePlace[];

/** Finds routes of an app, without the middleware, which accepts every method. */
export function routesOf(app: Hono<AppEnv>): RoutesAt {
  return (path) =>
    METHODS.flatMap((method) => {
      const [matches] = app.router.match(method, path);
      return matches.map(([[, route]]) => route).filter((route) => route.method === method);
    });
}

/**
 * The methods of a path, for the header `Allow`; empty if there is no such path. A route that names a
 * part of the path hides the matching routes with a parameter there.
 *
 * @param routes those that match the path
 */
export function allowedMethods(routes: readonly RoutePlace[]): readonly string[] {
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
