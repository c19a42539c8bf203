import { createMiddleware } from "hono/factory";
import { authorize, type Resource } from "../../services/identity/mod.ts";
import type { AppEnv } from "../context.ts";

const READING: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * Requires the right to read for GET and HEAD, and to write for other methods; see {@link
 * authorize}. Refuses halted agents the other methods.
 *
 * @param whileHalted whether halted agents may send the request
 */
export function allow(resource: Resource, whileHalted = false) {
  return createMiddleware<AppEnv>((context, next) => {
    const action = READING.has(context.req.method) ? "read" : "write";
    const principal = context.get("principal");
    authorize(principal, action, resource);
    if (action === "write" && !whileHalted) context.get("halts").requireGoing(principal);
    return next();
  });
}
