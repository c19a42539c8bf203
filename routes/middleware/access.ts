import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { Halts } from "../../services/agents/mod.ts";
import { authorize, type Principal, type Resource } from "../../services/identity/mod.ts";
import type { FreeSpace } from "../../services/kernel/files.ts";
import type { AppEnv } from "../context.ts";

const READING: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** What refuses changes. */
export interface Gates {
  readonly halts: Pick<Halts, "requireGoing">;
  readonly space: Pick<FreeSpace, "require">;
}

/**
 * Checks that a principal may send a request.
 *
 * @throws Forbidden, Halted, and Unavailable if the disk has no room for it
 */
export type AccessCheck = (principal: Principal, method: string, gates: Gates) => void;

/** What a request may do that others may not. */
export interface Exceptions {
  /** Whether halted agents may send the request. */
  readonly whileHalted?: boolean;
  /** Whether the request goes on while the disk has no room for new work. */
  readonly whileFull?: boolean;
}

/**
 * Requires the right to read for GET and HEAD, and to write for other methods; see {@link
 * authorize}. Refuses halted agents the other methods, and everybody new work while the disk is nearly full.
 */
export function accessCheck(
  resource: Resource,
  { whileHalted = false, whileFull = false }: Exceptions = {},
): AccessCheck {
  return (principal, method, { halts, space }) => {
    const action = READING.has(method) ? "read" : "write";
    authorize(principal, action, resource);
    if (action === "write" && !whileHalted) halts.requireGoing(principal);
    if (action === "write" && !whileFull && method !== "DELETE") space.require();
  };
}

/** Middleware that makes this check. */
export function allow(check: AccessCheck) {
  const require = (context: Context<AppEnv>) => {
    const [halts, space] = [context.get("halts"), context.get("space")];
    check(context.get("principal"), context.req.method, { halts, space });
  };
  return createMiddleware<AppEnv>((context, next) => {
    require(context);
    context.set("requireAgain", require);
    return next();
  });
}
