import type { Context, Hono } from "hono";
import type { AppEnv } from "../context.ts";
import { errorBody } from "./error_body.ts";
import { allowedMethods } from "./methods.ts";

/** Answers an unknown path with 404, and an unsupported method with 405. */
export function notFoundHandler(app: Hono<AppEnv>) {
  return function handleNotFound(context: Context<AppEnv>): Response {
    const { path, method } = context.req;
    const allowed = allowedMethods(app, path);
    if (allowed.length === 0) return errorBody(context, 404, `There is no ${path} here`);
    context.header("Allow", allowed.join(", "));
    return errorBody(context, 405, `${path} does not take ${method}`);
  };
}
