import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../context.ts";

/** Refuses a body over the limit, whether its length is declared or not. */
export function limitBody(maxBytes: number) {
  return bodyLimit({
    maxSize: maxBytes,
    onError: (context: Context) =>
      context.json({ error: `The body is larger than ${maxBytes} bytes` }, 413),
  });
}

/**
 * Takes the body of an API request for JSON whatever its `Content-Type` says, as a bare `curl -d`
 * sends it. It stands behind the authentication by header: a form of another site, which a browser
 * would send with a cookie, never gets here.
 */
export function jsonBody() {
  return createMiddleware<AppEnv>(async (context, next) => {
    const request = context.req.raw;
    const type = request.headers.get("content-type") ?? "";
    if (request.body !== null && !/^application\/([a-z0-9.+-]+\+)?json\b/i.test(type)) {
      const headers = new Headers(request.headers);
      headers.set("content-type", "application/json");
      context.req.raw = new Request(request, { headers });
    }
    await next();
  });
}
