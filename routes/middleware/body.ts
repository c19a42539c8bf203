import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { type BodyReader, hasBody } from "../../http/mod.ts";
import { Invalid } from "../../services/kernel/errors.ts";
import type { AppEnv } from "../environment.ts";

export interface JsonBodyOptions {
  /** Reads the body of a request. */
  readonly readerFor: (context: Context<AppEnv>) => Pick<BodyReader, "read">;
  /**
   * Called when the body has arrived, which may be long after its headers. The request waits for a
   * returned promise.
   */
  readonly onRead?: (context: Context<AppEnv>) => Promise<void> | null;
  /** Whether the body is a file, which its handler reads. */
  readonly isFile?: (context: Context<AppEnv>) => boolean;
}

/** What exporters of OpenTelemetry send unless they are told otherwise. */
const PROTOBUF = /^application\/x-protobuf\b/i;

/**
 * Treats the body of an API request as JSON whatever its `Content-Type`, because a bare `curl -d`
 * sends another one. Refuses protobuf, and a body that is not UTF-8, too long or too slow. Place it
 * after the authentication by header, so that a form of another site, which a browser would send
 * with a cookie, never gets here.
 */
export function jsonBody(
  { readerFor, onRead = () => null, isFile = () => false }: JsonBodyOptions,
) {
  return createMiddleware<AppEnv>((context, next) => {
    if (!hasBody(context.req.raw) || isFile(context)) return next();
    if (PROTOBUF.test(context.req.header("content-type") ?? "")) {
      throw new Invalid("Send JSON, not protobuf: set OTEL_EXPORTER_OTLP_PROTOCOL=http/json");
    }
    return readerFor(context).read(context.req.raw).then((text) => {
      context.set("body", text);
      return onRead(context)?.then(next) ?? next();
    });
  });
}
