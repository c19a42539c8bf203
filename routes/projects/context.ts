import { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "../context.ts";
import { invalidRequest } from "../middleware/errors.ts";

/** Creates an empty application, to which a group of the repository API adds its routes. */
export function newProjectRoutes(): OpenAPIHono<AppEnv> {
  return new OpenAPIHono<AppEnv>({ strict: false, defaultHook: invalidRequest });
}
