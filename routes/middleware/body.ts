import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { HTTPException } from "hono/http-exception";
import { type BodyLimits, BodyReader, hasBody } from "../../http/mod.ts";
import { parseJson as parse } from "../../services/kernel/validation/mod.ts";
import type { AppEnv } from "../context.ts";

/** The types of a body that is JSON. */
export const JSON_TYPE = /^application\/([a-z0-9.+-]+\+)?json\b/i;

export interface JsonBodyOptions {
  readonly limits: BodyLimits;
  /**
   * Called when the body has arrived, which may be long after its headers. The request waits for a
   * returned promise.
   */
  readonly onRead?: (context: Context<AppEnv>) => Promise<void> | null;
  /** Whether the body is a file, which its handler reads. */
  readonly isFile?: (context: Context<AppEnv>) => boolean;
}

/**
 * Treats the body of an API request as JSON whatever its `Content-Type`, because a bare `curl -d`
 * sends another one. Refuses a body that is not UTF-8, too long or too slow. Place it after the
 * authentication by header, so that a form of another site, which a browser would send with a
 * cookie, never gets here.
 */
export function jsonBody({ limits, onRead = () => null, isFile = () => false }: JsonBodyOptions) {
  const reader = new BodyReader(limits);
  return createMiddleware<AppEnv>((context, next) => {
    if (!hasBody(context.req.raw) || isFile(context)) return next();
    declareJson(context);
    return reader.read(context.req.raw).then((text) => {
      setBody(context, text);
      return onRead(context)?.then(next) ?? next();
    });
  });
}

function declareJson(context: Context): void {
  const { raw } = context.req;
  const type = raw.headers.get("content-type") ?? "";
  if (JSON_TYPE.test(type)) return;
  const headers = new Headers(raw.headers);
  headers.set("content-type", "application/json");
  context.req.raw = new Request(raw, { headers });
}

/** Treats a missing body as an empty object, so that every field has its default. */
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

/** The body that handlers and validators then read. */
function setBody(context: Context<AppEnv>, text: string): void {
  context.set("body", text);
  const cache: { text?: unknown } = context.req.bodyCache;
  cache.text = Promise.resolve(text);
}

/**
 * The value of a body of JSON.
 *
 * @throws HTTPException if it is not JSON
 */
export function parseJson(text: string): unknown {
  try {
    return parse(text);
  } catch {
    throw new HTTPException(400, { message: "Malformed JSON in request body" });
  }
}
