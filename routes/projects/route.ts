import { createRoute, type RouteConfig, z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { Unauthorized } from "../../services/errors.ts";
import type { Action } from "../../services/identity/mod.ts";
import { openedBy, type SecurityScheme } from "../documentation/mod.ts";
import { errors } from "../schemas.ts";
import type { AppEnv } from "../context.ts";
import { type Callers, PROJECT_ROUTES, type ProjectEndpoint } from "./table.ts";

type MethodOf<Name extends ProjectEndpoint> = Name extends `${infer Method} ${string}`
  ? Lowercase<Method>
  : never;

type PathOf<Name extends ProjectEndpoint> = Name extends `${string} ${infer Path}` ? Path : never;

/** What the table does not say of a route. */
type Description = Omit<RouteConfig, "method" | "path" | "security" | "middleware">;

const HEADERS = ["adminToken", "agentToken", "passphrase"] as const;

/** The credentials that open a route, as the API's document names them. */
const SCHEMES: Record<Callers | "all", readonly SecurityScheme[]> = {
  all: ["apiToken", ...HEADERS, "session"],
  accounts: [...HEADERS, "session"],
  "no session": ["apiToken", ...HEADERS],
  "no passphrase": ["apiToken", "adminToken", "agentToken", "session"],
  "token of streams": ["apiToken", ...HEADERS, "session", "queryToken"],
};

/**
 * Makes a route of the repository API's table. It checks the caller's right in the project, and
 * refuses query parameters that the query's schema does not name.
 *
 * @param middleware runs after the check of the right
 */
export function projectRoute<Name extends ProjectEndpoint, Described extends Description>(
  name: Name,
  description: Described,
  ...middleware: readonly MiddlewareHandler<AppEnv>[]
) {
  const [, needs, only]: readonly [string, Action, Callers?] = PROJECT_ROUTES[name];
  const callers = only ?? "all";
  const [method, path] = name.split(" ") as [string, PathOf<Name>];
  const { request } = description;
  const query = request?.query;
  return createRoute(
    {
      ...description,
      ...(query instanceof z.ZodObject ? { request: { ...request, query: query.strict() } } : {}),
      method: method.toLowerCase() as MethodOf<Name>,
      path,
      middleware: [
        allowInProject(needs),
        ...(callers === "no session" ? [refuseSession()] : []),
        ...middleware,
      ],
      security: [
        ...openedBy(...SCHEMES[callers]),
        ...(needs === "read" && callers !== "accounts" ? [{}] : []),
      ],
    } as Described & {
      method: MethodOf<Name>;
      path: PathOf<Name>;
      middleware: MiddlewareHandler<AppEnv>[];
    },
  );
}

/** The error responses of an endpoint of the repository API: these, and those that each has. */
export function projectErrors<Status extends Parameters<typeof errors>[0]>(
  ...statuses: Status[]
) {
  return errors<Status | 404 | 503 | 504>(404, 503, 504, ...statuses);
}

function allowInProject(action: Action) {
  return createMiddleware<AppEnv>(async (context, next) => {
    context.get("access").require(action);
    await next();
  });
}

/** Refuses a browser's session before the request is looked at. */
function refuseSession() {
  return createMiddleware<AppEnv>(async (context, next) => {
    if (context.get("session") !== undefined) {
      throw new Unauthorized("This needs a token in the Authorization header");
    }
    await next();
  });
}
