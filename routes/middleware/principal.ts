import type { HonoRequest } from "hono";
import { createMiddleware } from "hono/factory";
import { readAuthorization, wantsEventStream } from "../../http/mod.ts";
import { Unauthorized } from "../../services/errors.ts";
import {
  type Access,
  authorize,
  type Credential,
  type Identity,
} from "../../services/identity/mod.ts";
import type { AppEnv } from "../context.ts";

const STREAM_PATH = /^\/v1\/channels\/[^/]+\/stream$/;
const EVENTS_PATH = "/v1/events";

/**
 * Finds the principal of a request from the `Authorization` header. Event streams may carry the token
 * in the query, because a browser's `EventSource` cannot set a header.
 */
export function authenticate(identity: Identity) {
  return createMiddleware<AppEnv>(async (context, next) => {
    const credential = readAuthorization(context.req.header("authorization")) ??
      (isStream(context.req) ? readToken(context.req.query("token")) : null);
    if (credential === null) {
      throw new Unauthorized("An Authorization header with a Bearer token is required");
    }
    context.set("principal", await identity.authenticate(credential, context.get("address")));
    context.env.trust?.();
    await next();
  });
}

const READING: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Lets through whom {@link authorize} lets through. */
export function allow(access: Access) {
  return createMiddleware<AppEnv>(async (context, next) => {
    const readOnly = READING.has(context.req.method);
    authorize(context.get("principal"), access, { readOnly });
    await next();
  });
}

/** Whether a request opens an event stream; a browser asks for one by its `Accept`. */
function isStream(request: HonoRequest): boolean {
  if (request.path === EVENTS_PATH) return wantsEventStream(request.header("accept"));
  return STREAM_PATH.test(request.path);
}

function readToken(token: string | undefined): Credential | null {
  return token === undefined || token === "" ? null : { kind: "bearer", token };
}
