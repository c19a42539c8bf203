import type { OpenAPIHono } from "@hono/zod-openapi";
import { ApiRoutes } from "./api_routes.ts";
import type { AppEnv } from "./environment.ts";

export type { AppEnv, Proof } from "./environment.ts";

/** Creates an empty application, to which a group adds its routes. */
export function newRoutes(): OpenAPIHono<AppEnv> {
  return new ApiRoutes();
}
