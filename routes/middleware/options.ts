import type { Context, Hono } from "hono";
import type { AppEnv } from "../context.ts";
import { errorBody } from "./error_body.ts";
import { allowedMethods } from "./methods.ts";

/**
 * Answers OPTIONS (RFC 9110, 9.3.7) for every path, with its methods. Browsers send it without a
 * credential.
 */
export function answerOptions(app: Hono<AppEnv>, context: Context<AppEnv>): Response {
  const { path } = context.req;
  const allowed = allowedMethods(app, path);
  if (allowed.length === 0) return errorBody(context, 404, `There is no ${path} here`);
  return context.body(null, 204, { Allow: allowed.join(", ") });
}
