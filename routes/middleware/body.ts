import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { createMiddleware } from "hono/factory";
import { decodeBody } from "../../http/mod.ts";
import type { AppEnv } from "../context.ts";
import { errorBody } from "./error_body.ts";

/** Refuses a body over the limit, whether its length is declared or not. */
export function limitBody(maxBytes: number) {
  return bodyLimit({
    maxSize: maxBytes,
    onError: (context: Context) =>
      errorBody(context, 413, `The body is larger than ${maxBytes} bytes`),
  });
}

/**
 * Takes the body of an API request for JSON whatever its `Content-Type` says, as a bare `curl -d`
 * sends it, and refuses one that is not UTF-8. It stands behind the authentication by header: a form of another site, which a browser
 * would send with a cookie, never gets here.
 */
export function jsonBody() {
  return createMiddleware<AppEnv>(async (context, next) => {
    const request = context.req.raw;
    if (request.body !== null) {
      const type = request.headers.get("content-type") ?? "";
      if (!/^application\/([a-z0-9.+-]+\+)?json\b/i.test(type)) {
        const headers = new Headers(request.headers);
        headers.set("content-type", "application/json");
        context.req.raw = new Request(request, { headers });
      }
      setBody(context, decodeBody(await context.req.raw.arrayBuffer()));
    }
    await next();
  });
}

/** Takes no body for an empty object, so that every field has its default. */
export function optionalBody() {
  return createMiddleware<AppEnv>(async (context, next) => {
    const text = await context.req.text();
    if (text.trim() === "") {
      const headers = new Headers(context.req.raw.headers);
      headers.set("content-type", "application/json");
      context.req.raw = new Request(context.req.raw, { headers, body: "{}" });
      setBody(context, "{}");
    }
    await next();
  });
}

/** What handlers and validators then read as the request's body. */
function setBody(context: Context, text: string): void {
  Object.assign(context.req.bodyCache, { text: Promise.resolve(text) });
}
