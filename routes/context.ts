import type { Context } from "hono";
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Caller } from "../services/identity/mod.ts";
import type { AppEnv } from "./environment.ts";
import { invalidRequest } from "./middleware/errors.ts";
import { RememberingRouter } from "./remembering_router.ts";

export type { AppEnv, Proof } from "./environment.ts";

/** Creates an empty application, to which a group adds its routes. */
export function newRoutes(): OpenAPIHono<AppEnv> {
  const router: OpenAPIHono<AppEnv>["router"] = new RememberingRouter();
  return new OpenAPIHono<AppEnv>({ strict: false, defaultHook: invalidRequest, router });
}

/** The origin of a request: principal, address and request id. */
export function callerOf(context: Context<AppEnv>): Caller {
  return {
    principal: context.get("principal"),
    address: context.get("address"),
    requestId: context.get("requestId"),
  };
}
