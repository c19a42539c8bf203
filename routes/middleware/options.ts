import type { Hono } from "hono";
import { createMiddleware } from "hono/factory";
import { NotFound } from "../../services/errors.ts";
import type { AppEnv } from "../context.ts";
import { allowedMethods } from "./methods.ts";

/**
 * Answers OPTIONS (RFC 9110, 9.3.7) for every path, with the methods that it takes. It stands
 * before the authentication, because a browser asks so without a credential.
 */
export function answerOptions(app: Hono<AppEnv>) {
  return createMiddleware<AppEnv>(async (context, next) => {
    if (context.req.method !== "OPTIONS") return await next();
    const { path } = context.req;
    const allowed = allowedMethods(app, path);
    if (allowed.length === 0) throw new NotFound(`There is no ${path} here`);
    return context.body(null, 204, { Allow: allowed.join(", ") });
  });
}
