import type { Context, Hono } from "hono";
import { matchedRoutes } from "hono/route";
import type { AppEnv } from "../environment.ts";
import { errorBody } from "./error_body.ts";

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
function allowedMethods(routes: readonly RoutePlace[]): readonly string[] {
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

/** Answers an unknown path with 404, and an unsupported method with 405. */
export function notFoundHandler(routesAt: RoutesAt) {
  return function handleNotFound(context: Context<AppEnv>): Response {
    const { path, method } = context.req;
    const allowed = allowedMethods(routesAt(path));
    if (allowed.length === 0) return errorBody(context, 404, `There is no ${path} here`);
    context.header("Allow", allowed.join(", "));
    return errorBody(context, 405, `${path} does not take ${method}`);
  };
}

/** What a client of resumable uploads may want to know beforehand (tus 1.0, "OPTIONS"). */
const TUS = {
  "Tus-Resumable": "1.0.0",
  "Tus-Version": "1.0.0",
  "Tus-Extension": "creation,creation-with-upload,expiration,termination",
};

/**
 * Answers OPTIONS (RFC 9110, 9.3.7) for every path, with its methods. Browsers send it without a
 * credential.
 *
 * @param uploads the patterns of the routes of resumable uploads
 */
export function answerOptions(
  routesAt: RoutesAt,
  context: Context<AppEnv>,
  uploads: ReadonlySet<string>,
): Response {
  const { path } = context.req;
  const routes = routesAt(path);
  const allowed = allowedMethods(routes);
  if (allowed.length === 0) return errorBody(context, 404, `There is no ${path} here`);
  const headers = { Allow: allowed.join(", ") };
  const isUpload = routes.some((route) => uploads.has(route.path));
  return context.body(null, 204, isUpload ? { ...headers, ...TUS } : headers);
}

/** The route of a request without a handler. */
const NO_ROUTE = "none";

/** The patterns of paths, in the form of the OpenAPI document. */
export class RoutePatterns {
  /** By the router's pattern; one for each route. */
  readonly #patterns = new Map<string, string>();

  /** The pattern of the route that answered a request, or `none`. */
  of(context: Context<AppEnv>): string {
    const route = matchedRoutes(context).at(-1);
    if (route === undefined || route.method === "ALL") return NO_ROUTE;
    let pattern = this.#patterns.get(route.path);
    if (pattern === undefined) {
      pattern = route.path.replace(/:(\w+)(?:\{[^{}]*\})?/g, "{$1}");
      this.#patterns.set(route.path, pattern);
    }
    return pattern;
  }
}
