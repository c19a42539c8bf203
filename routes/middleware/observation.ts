import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { matchedRoutes } from "hono/route";
import type { Principal } from "../../services/identity/mod.ts";
import type { Log } from "../../services/log.ts";
import type { Metrics } from "../../services/metrics/mod.ts";
import type { AppEnv } from "../context.ts";

export interface ObservationOptions {
  readonly metrics: Pick<Metrics, "requestAnswered">;
  readonly log: Log;
}

/** What is asked every few seconds by machines; it is logged at debug as long as all is well. */
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/v1/metrics"]);

const METHODS: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
]);

/**
 * Counts every request in the metrics and writes a line for it to the log, when the headers of the
 * answer are there. Both tell the pattern of the path alone: the path itself and the query may hold
 * a token.
 */
export function observe({ metrics, log }: ObservationOptions) {
  return createMiddleware<AppEnv>(async (context, next) => {
    const started = performance.now();
    await next();
    const milliseconds = performance.now() - started;
    const method = METHODS.has(context.req.method) ? context.req.method : "other";
    const { status } = context.res;
    const route = routeOf(context);
    metrics.requestAnswered({ method, route, status, seconds: milliseconds / 1000 });
    const level = PROBES.has(route) && status < 400 ? "debug" : "info";
    log[level]("Request", {
      method,
      route,
      status,
      ms: Math.round(milliseconds * 10) / 10,
      requestId: context.get("requestId"),
      principal: describe(context.get("principal")),
      address: context.get("address"),
    });
  });
}

/** The pattern of the path, as the OpenAPI document writes it. */
function routeOf(context: Context<AppEnv>): string {
  const route = matchedRoutes(context).at(-1);
  if (route === undefined || route.method === "ALL") return "none";
  return route.path.replace(/:(\w+)/g, "{$1}");
}

function describe(principal: Principal | undefined): string | null {
  if (principal === undefined) return null;
  return principal.kind === principal.name ? principal.name : `${principal.kind} ${principal.name}`;
}
