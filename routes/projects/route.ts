import { createMiddleware } from "hono/factory";
import { Invalid, Unauthorized } from "../../services/kernel/errors.ts";
import type { Action } from "../../services/people/identity/mod.ts";
import type { SecurityScheme } from "../documentation/mod.ts";
import type { AppEnv } from "../environment.ts";
import { errors } from "../schemas.ts";
import type { RouteAccess } from "../access.ts";
import { allowInProject } from "./access.ts";
import {
  PROJECT_ROUTES,
  PROJECT_WHILE_FULL,
  PROJECT_WHILE_HALTED,
  type ProjectEndpoint,
  type ProjectTrait,
} from "./table.ts";

const HEADERS = ["adminToken", "agentToken", "passphrase"] as const;

/** The credentials that a route accepts, by their names in the OpenAPI document. */
const ALL: readonly SecurityScheme[] = ["apiToken", ...HEADERS, "session"];
const SCHEMES: Record<ProjectTrait, readonly SecurityScheme[]> = {
  accounts: [...HEADERS, "session"],
  "no session": ["apiToken", ...HEADERS],
  "no passphrase": ["apiToken", "adminToken", "agentToken", "session"],
  "token of streams": [...ALL, "queryToken"],
  "file body": ALL,
};

/** Who reaches a route of the repository API's table. */
export function projectAccess(name: ProjectEndpoint): RouteAccess {
  const [, needs, trait]: readonly [string, Action, ProjectTrait?] = PROJECT_ROUTES[name];
  const whileHalted = PROJECT_WHILE_HALTED.has(name);
  return {
    schemes: trait === undefined ? ALL : SCHEMES[trait],
    isOpen: needs === "read" && trait !== "accounts",
    refusesHalted: !name.startsWith("GET ") && !whileHalted,
    middleware: [
      allowInProject(needs, { whileHalted, whileFull: PROJECT_WHILE_FULL.has(name) }),
      ...(trait === "no session" ? [refuseSession()] : []),
    ],
  };
}

/**
 * The error responses of an endpoint of the repository API: the given ones, and those of every
 * endpoint.
 */
export function projectErrors<Status extends Parameters<typeof errors>[0]>(
  ...statuses: Status[]
) {
  return errors<Status | 400 | 404 | 503 | 504>(400, 404, 503, 504, ...statuses);
}

/** Refuses an item of a batch, for routes whose answer is a stream or an archive. */
export const refuseInBatch = createMiddleware<AppEnv>(async (context, next) => {
  // Other requests have the runtime's own bindings, or none.
  if (context.env?.inner !== undefined) {
    throw new Invalid("A batch takes neither streams nor archives");
  }
  await next();
});

/** Refuses a browser's session before the request is read. */
function refuseSession() {
  return createMiddleware<AppEnv>(async (context, next) => {
    if (context.get("session") !== undefined) {
      throw new Unauthorized("This needs a token in the Authorization header");
    }
    await next();
  });
}
