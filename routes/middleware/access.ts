import { createMiddleware } from "hono/factory";
import { authorize, type Resource } from "../../services/identity/mod.ts";
import type { AppEnv } from "../context.ts";

const READING: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * Requires the right to read for GET and HEAD, and to write for other methods; see {@link
 * authorize}.
 */
export function allow(resource: Resource) {
  return createMiddleware<AppEnv>((context, next) => {
    const action = READING.has(context.req.method) ? "read" : "write";
    authorize(context.get("principal"), action, resource);
    return next();
  });
}
