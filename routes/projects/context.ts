import type { OpenAPIHono } from "@hono/zod-openapi";
import { type AppEnv, newRoutes } from "../context.ts";

/** Creates an empty application, to which a group of the repository API adds its routes. */
export function newProjectRoutes(): OpenAPIHono<AppEnv> {
  return newRoutes();
}
