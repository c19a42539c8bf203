import type { Context } from "hono";
import { matchedRoutes } from "hono/route";
import type { AppEnv } from "../context.ts";

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
