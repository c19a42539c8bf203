import { createRoute, type RouteConfig, z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "./context.ts";
import { openedBy, type SecurityScheme } from "./documentation/mod.ts";
import { allow } from "./middleware/access.ts";
import { type Endpoint, type Opens, type QueryToken, ROUTES } from "./table.ts";

type MethodOf<Name extends Endpoint> = Name extends `${infer Method} ${string}` ? Lowercase<Method>
  : never;

type PathOf<Name extends Endpoint> = Name extends `${string} ${infer Path}` ? Path : never;

/** What the table does not say of a route. */
type Description = Omit<RouteConfig, "method" | "path" | "security" | "middleware">;

/** The security schemes for a route's resource. */
const SCHEMES: Record<Opens, readonly SecurityScheme[]> = {
  nothing: [],
  session: ["session"],
  "session or nothing": ["session"],
  anybody: ["apiToken", "adminToken", "agentToken", "passphrase", "session"],
  server: ["apiToken", "adminToken"],
  coordination: ["apiToken", "adminToken", "agentToken", "passphrase"],
  models: ["apiToken", "adminToken", "agentToken", "passphrase"],
};

/**
 * Creates a route of the table. It checks the caller's rights and refuses unknown query parameters;
 * the API's document lists its credentials.
 *
 * @param middleware runs after the check of the rights
 */
export function route<Name extends Endpoint, Described extends Description>(
  name: Name,
  description: Described,
  ...middleware: readonly MiddlewareHandler<AppEnv>[]
) {
  const [, opens, queryToken]: readonly [string, Opens, QueryToken?] = ROUTES[name];
  const [method, path] = name.split(" ") as [string, PathOf<Name>];
  return createRoute({
    ...strict(description),
    method: method.toLowerCase() as MethodOf<Name>,
    path,
    middleware: [...guardOf(opens), ...middleware],
    security: [
      ...openedBy(...SCHEMES[opens], ...(queryToken === undefined ? [] : ["queryToken" as const])),
      ...(opens === "session or nothing" || opens === "anybody" ? [{}] : []),
    ],
  });
}

/** The description with a query that refuses unknown parameters, if it takes a query. */
function strict<Described extends Description>(description: Described): Described {
  const { request } = description;
  if (!(request?.query instanceof z.ZodObject)) return description;
  return { ...description, request: { ...request, query: request.query.strict() } };
}

/** What checks the caller's rights; a session, and what anybody sees, are for the route's own middleware. */
function guardOf(opens: Opens): readonly MiddlewareHandler<AppEnv>[] {
  switch (opens) {
    case "nothing":
    case "anybody":
    case "session":
    case "session or nothing":
      return [];
    default:
      return [allow({ kind: opens })];
  }
}
