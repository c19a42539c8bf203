import type { Context, MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "./environment.ts";
import type { SecurityScheme } from "./documentation/security.ts";
import {
  type Gates,
  requireServerCall,
  type ServerAccess,
} from "../services/people/identity/mod.ts";
import {
  type Endpoint,
  type Opens,
  ROUTES,
  type Trait,
  WHILE_FULL,
  WHILE_HALTED,
} from "./table.ts";

/** What a request may do that others may not. */
export type Exceptions = Omit<ServerAccess, "on" | "isAtPage">;

/** Middleware that checks that the caller may send the request, and checks it again after waits. */
export function allow(access: ServerAccess) {
  const require = (context: Context<AppEnv>) => {
    const gates: Gates = { halts: context.get("halts"), space: context.get("space") };
    requireServerCall(context.req.method, access, context.get("principal"), gates);
  };
  return createMiddleware<AppEnv>((context, next) => {
    require(context);
    context.set("requireAgain", require);
    return next();
  });
}

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
  account: ["apiToken", "adminToken", "agentToken", "personToken", "passphrase"],
  models: ["apiToken", "adminToken", "agentToken", "passphrase"],
  runner: ["runnerToken"],
  projects: ["apiToken", "adminToken", "agentToken", "personToken", "passphrase", "session"],
};

/** Who reaches a route of the table. */
export function accessOf(name: Endpoint): RouteAccess {
  const [, opens, trait]: readonly [string, Opens, Trait?] = ROUTES[name];
  const whileHalted = WHILE_HALTED.has(name);
  const hasQueryToken = trait === "token" || trait === "token of streams";
  const access = serverAccessOf(name);
  return {
    schemes: [...SCHEMES[opens], ...(hasQueryToken ? ["queryToken" as const] : [])],
    isOpen: opens === "session or nothing" || opens === "anybody",
    refusesHalted: !name.startsWith("GET ") && !whileHalted && schemesForAgents(SCHEMES[opens]),
    middleware: access === null ? [] : [allow(access)],
  };
}

/** Whether agents reach a route with these credentials. */
function schemesForAgents(schemes: readonly SecurityScheme[]): boolean {
  return schemes.includes("agentToken");
}

/** What a route acts on; null if it has its own check, as for sessions and open pages. */
export function serverAccessOf(name: Endpoint): ServerAccess | null {
  const [, opens]: readonly [string, Opens, Trait?] = ROUTES[name];
  switch (opens) {
    case "nothing":
    case "anybody":
    case "session":
    case "session or nothing":
      return null;
    default:
      return { on: opens, whileHalted: WHILE_HALTED.has(name), whileFull: WHILE_FULL.has(name) };
  }
}
