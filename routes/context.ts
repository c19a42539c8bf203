import type { Context } from "hono";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Caller } from "../services/identity/mod.ts";
import { ApiRoutes } from "./api_routes.ts";
import type { AppEnv } from "./environment.ts";

export type { AppEnv, Proof } from "./environment.ts";

/** Creates an empty application, to which a group adds its routes. */
export function newRoutes(): OpenAPIHono<AppEnv> {
  return new ApiRoutes();
}

/** The origin of a request: principal, address and request id. */
export function callerOf(context: Context<AppEnv>): Caller {
  return {
    principal: context.get("principal"),
    address: context.get("address"),
    requestId: context.get("requestId"),
  };
}
