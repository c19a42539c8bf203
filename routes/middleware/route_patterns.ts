import type { Context } from "hono";
import { matchedRoutes } from "hono/route";
import type { AppEnv } from "../context.ts";

/** The route of a request that no handler stands for. */
const NO_ROUTE = "none";

/** The patterns of paths, as the OpenAPI document writes them. */
export class RoutePatterns {
  /** By the pattern as the router has it; as many as there are routes. */
  readonly #patterns = new Map<string, string>();

  /** The pattern that a request was answered by, or `none`. */
  of(context: Context<AppEnv>): string {
    const route = matchedRoutes(context).at(-1);
    if (route === undefined || route.method === "ALL") return NO_ROUTE;
    let pattern = this.#patterns.get(route.path);
    if (pattern === undefined) {
      pattern = route.path.replace(/:(\w+)/g, "{$1}");
      this.#patterns.set(route.path, pattern);
    }
    return pattern;
  }
}
