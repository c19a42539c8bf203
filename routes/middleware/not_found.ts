import type { Context } from "hono";
import type { AppEnv } from "../environment.ts";
import { errorBody } from "./error_body.ts";
import { allowedMethods, type RoutesAt } from "./methods.ts";

/** Answers an unknown path with 404, and an unsupported method with 405. */
export function notFoundHandler(routesAt: RoutesAt) {
  return function handleNotFound(context: Context<AppEnv>): Response {
    const { path, method } = context.req;
    const allowed = allowedMethods(routesAt(path));
    if (allowed.length === 0) return errorBody(context, 404, `There is no ${path} here`);
    context.header("Allow", allowed.join(", "));
    return errorBody(context, 405, `${path} does not take ${method}`);
  };
}
