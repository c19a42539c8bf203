import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { matchedRoutes } from "hono/route";
import { recordAnswer, type Records } from "../../http/mod.ts";
import type { AppEnv } from "../context.ts";

/** The route of a request that no handler stands for. */
const NO_ROUTE = "none";

/** Notes every request in the metrics and in the access log. */
export function observe(records: Records) {
  return createMiddleware<AppEnv>(async (context, next) => {
    const started = performance.now();
    await next();
    recordAnswer(records, {
      method: context.req.method,
      route: routeOf(context),
      status: context.res.status,
      milliseconds: performance.now() - started,
      requestId: context.get("requestId"),
      principal: context.get("principal"),
      address: context.get("address"),
    });
  });
}

/** The pattern of the path, as the OpenAPI document writes it. */
function routeOf(context: Context<AppEnv>): string {
  const route = matchedRoutes(context).at(-1);
  if (route === undefined || route.method === "ALL") return NO_ROUTE;
  return route.path.replace(/:(\w+)/g, "{$1}");
}
