import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../context.ts";

/** Gives every request an id of our own and tells it in `X-Request-Id`. */
export function requestId() {
  return createMiddleware<AppEnv>(async (context, next) => {
    const id = crypto.randomUUID();
    context.set("requestId", id);
    await next();
    context.res.headers.set("X-Request-Id", id);
  });
}
