import { createMiddleware } from "hono/factory";
import { readAuthorization } from "../../http/mod.ts";
import { Unauthorized } from "../../services/errors.ts";
import {
  type Access,
  authorize,
  type Credential,
  type Identity,
} from "../../services/identity/mod.ts";
import type { AppEnv } from "../context.ts";

const STREAM_PATH = /^\/v1\/channels\/[^/]+\/stream$/;

/**
 * Finds out who calls, from the `Authorization` header, or from the query of an event stream, to
 * which a browser cannot give a header.
 */
export function authenticate(identity: Identity) {
  return createMiddleware<AppEnv>(async (context, next) => {
    const credential = readAuthorization(context.req.header("authorization")) ??
      (STREAM_PATH.test(context.req.path) ? readToken(context.req.query("token")) : null);
    if (credential === null) {
      throw new Unauthorized("An Authorization header with a Bearer token is required");
    }
    context.set("principal", await identity.authenticate(credential, context.get("address")));
    context.env.trust?.();
    await next();
  });
}

/** Lets through whom {@link authorize} lets through. */
export function allow(access: Access) {
  return createMiddleware<AppEnv>(async (context, next) => {
    authorize(context.get("principal"), access);
    await next();
  });
}

function readToken(token: string | undefined): Credential | null {
  return token === undefined || token === "" ? null : { kind: "bearer", token };
}
