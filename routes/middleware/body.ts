import type { Context, MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { type BodyLimits, readBody } from "../../http/mod.ts";
import type { AppEnv } from "../context.ts";

/**
 * Takes the body of an API request for JSON whatever its `Content-Type` says, as a bare `curl -d`
 * sends it, and refuses one that is not UTF-8, too long or too slow. It stands behind the
 * authentication by header: a form of another site, which a browser would send with a cookie, never
 * gets here.
 *
 * @param onRead is called when the body is there, which may be long after its headers
 */
export function jsonBody(
  limits: BodyLimits,
  onRead?: (context: Context<AppEnv>) => Promise<void>,
) {
  return createMiddleware<AppEnv>(async (context, next) => {
    const request = context.req.raw;
    if (request.body !== null) {
      const type = request.headers.get("content-type") ?? "";
      if (!/^application\/([a-z0-9.+-]+\+)?json\b/i.test(type)) {
        const headers = new Headers(request.headers);
        headers.set("content-type", "application/json");
        context.req.raw = new Request(request, { headers });
      }
      setBody(context, await readBody(context.req.raw, limits));
      await onRead?.(context);
    }
    await next();
  });
}

/** The requests whose body is a file, which goes to the disk as it comes. */
const UPLOADS: readonly RegExp[] = [
  /^\/v1\/projects\/[^/]+\/repository$/,
  /^\/projects\/[^/]+\/[^/]+\/api\/releases\/[^/]+\/assets\/[^/]+$/,
];

/** Whether the body of a request is a file. */
export function isUpload(context: Context<AppEnv>): boolean {
  const { method, path } = context.req;
  return method === "PUT" && UPLOADS.some((pattern) => pattern.test(path));
}

/** Uses a middleware for bodies where the body is no file. */
export function exceptUploads(middleware: MiddlewareHandler<AppEnv>) {
  return createMiddleware<AppEnv>(async (context, next) => {
    if (isUpload(context)) return await next();
    return await middleware(context, next);
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
