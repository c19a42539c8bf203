import { createRoute, type RouteConfig, z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "./context.ts";
import { openedBy, type SecurityScheme } from "./documentation/mod.ts";
import { allow } from "./middleware/access.ts";
import { errors, openAiErrors } from "./schemas.ts";
import { type Endpoint, type Opens, ROUTES, type Trait, WHILE_HALTED } from "./table.ts";

type MethodOf<Name extends string> = Name extends `${infer Method} ${string}`
  ? Extract<Lowercase<Method>, RouteConfig["method"]>
  : never;

type PathOf<Name extends string> = Name extends `${string} ${infer Path}` ? Path : never;

/** What a table does not say of a route. */
export type Description = Omit<RouteConfig, "method" | "path" | "security" | "middleware">;

/** Who reaches a route. */
export interface RouteAccess {
  /** The credentials that open it, as the API's document names them. */
  readonly schemes: readonly SecurityScheme[];
  /** Whether it also answers callers without a credential. */
  readonly isOpen: boolean;
  /** Whether it refuses halted agents, with status 423. */
  readonly refusesHalted: boolean;
  /** What checks the caller's rights, and what else runs before the handler. */
  readonly middleware: readonly MiddlewareHandler<AppEnv>[];
}

/** The security schemes for a route's resource. */
const SCHEMES: Record<Opens, readonly SecurityScheme[]> = {
  nothing: [],
  session: ["session"],
  "session or nothing": ["session"],
  anybody: ["apiToken", "adminToken", "agentToken", "passphrase", "session"],
  server: ["apiToken", "adminToken"],
  coordination: ["apiToken", "adminToken", "agentToken", "passphrase"],
  questions: ["apiToken", "adminToken", "agentToken", "personToken", "passphrase"],
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
  const { middleware: guard, ...access } = accessOf(name);
  return tableRoute(name, description, { ...access, middleware: [...guard, ...middleware] });
}

/** Who reaches a route of the table. */
export function accessOf(name: Endpoint): RouteAccess {
  const [, opens, trait]: readonly [string, Opens, Trait?] = ROUTES[name];
  const whileHalted = WHILE_HALTED.has(name);
  const hasQueryToken = trait === "token" || trait === "token of streams";
  return {
    schemes: [...SCHEMES[opens], ...(hasQueryToken ? ["queryToken" as const] : [])],
    isOpen: opens === "session or nothing" || opens === "anybody",
    refusesHalted: !name.startsWith("GET ") && !whileHalted && schemesForAgents(SCHEMES[opens]),
    middleware: guardOf(opens, whileHalted),
  };
}

/**
 * Creates a route of a table by its name, such as `GET /v1/agents`. It refuses query parameters that
 * the description does not name.
 */
export function tableRoute<Name extends string, Described extends Description>(
  name: Name,
  description: Described,
  { schemes, isOpen, refusesHalted, middleware }: RouteAccess,
) {
  const [method, path] = name.split(" ") as [string, PathOf<Name>];
  const whole = refusesHalted ? withHalted(description, path) : description;
  return createRoute({
    ...strict(whole),
    method: method.toLowerCase() as MethodOf<Name>,
    path,
    middleware: [...middleware],
    security: [...openedBy(...schemes), ...(isOpen ? [{}] : [])],
  });
}

/** The description with the answer to a halted agent. */
function withHalted<Described extends Description>(
  description: Described,
  path: string,
): Described {
  const halted = path.startsWith("/v1/llm/openai/") ? openAiErrors(423) : errors(423);
  return { ...description, responses: { ...description.responses, 423: halted[423] } };
}

/** Whether agents reach a route with these credentials. */
export function schemesForAgents(schemes: readonly SecurityScheme[]): boolean {
  return schemes.includes("agentToken");
}

/** The description with a query that refuses unknown parameters, if it takes a query. */
function strict<Described extends Description>(description: Described): Described {
  const { request } = description;
  if (!(request?.query instanceof z.ZodObject)) return description;
  return { ...description, request: { ...request, query: request.query.strict() } };
}

/** What checks the caller's rights; a session, and what anybody sees, are for the route's own middleware. */
function guardOf(opens: Opens, whileHalted: boolean): readonly MiddlewareHandler<AppEnv>[] {
  switch (opens) {
    case "nothing":
    case "anybody":
    case "session":
    case "session or nothing":
      return [];
    default:
      return [allow({ kind: opens }, whileHalted)];
  }
}
