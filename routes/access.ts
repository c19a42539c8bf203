import type { MiddlewareHandler } from "hono";
import type { Access } from "../services/identity/mod.ts";
import type { AppEnv } from "./context.ts";
import { openedBy } from "./documentation/mod.ts";
import { allow } from "./middleware/principal.ts";

/**
 * Restricts a route to some callers: the middleware that enforces it, and its entry in the OpenAPI
 * document.
 *
 * @param more middleware that comes after it
 */
export function openTo(access: Access, ...more: MiddlewareHandler<AppEnv>[]) {
  return {
    middleware: [allow(access), ...more],
    security: access === "operator"
      ? openedBy("apiToken", "adminToken")
      : openedBy("apiToken", "adminToken", "agentToken", "passphrase"),
  };
}
