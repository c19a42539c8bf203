import type { Context } from "hono";
import type { Caller } from "../services/identity/mod.ts";
import type { AppEnv } from "./environment.ts";

/** The origin of a request: principal, address and request id. */
export function callerOf(context: Context<AppEnv>): Caller {
  return {
    principal: context.get("principal"),
    address: context.get("address"),
    requestId: context.get("requestId"),
  };
}
