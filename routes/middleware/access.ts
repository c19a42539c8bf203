import { createMiddleware } from "hono/factory";
import type { Halts } from "../../services/agents/mod.ts";
import { authorize, type Principal, type Resource } from "../../services/identity/mod.ts";
import type { AppEnv } from "../context.ts";

const READING: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * Checks that a principal may send a request.
 *
 * @throws Forbidden, Halted
 */
export type AccessCheck = (
  principal: Principal,
  method: string,
  halts: Pick<Halts, "requireGoing">,
) => void;

/**
 * Requires the right to read for GET and HEAD, and to write for other methods; see {@link
 * authorize}. Refuses halted agents the other methods.
 *
 * @param whileHalted whether halted agents may send the request
 */
export function accessCheck(resource: Resource, whileHalted = false): AccessCheck {
  return (principal, method, halts) => {
    const action = READING.has(method) ? "read" : "write";
    authorize(principal, action, resource);
    if (action === "write" && !whileHalted) halts.requireGoing(principal);
  };
}

/** Middleware that makes this check. */
export function allow(check: AccessCheck) {
  return createMiddleware<AppEnv>((context, next) => {
    check(context.get("principal"), context.req.method, context.get("halts"));
    return next();
  });
}
