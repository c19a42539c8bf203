import { createMiddleware } from "hono/factory";
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

/**
 * Reads an `Authorization` header of the schemes Bearer (RFC 6750) and Basic (RFC 7617).
 *
 * @returns null where there is none or it is of another scheme or form
 */
export function readAuthorization(header: string | undefined): Credential | null {
  const match = /^(bearer|basic) +(\S+) *$/i.exec(header ?? "");
  const [, scheme, value] = match ?? [];
  if (scheme === undefined || value === undefined) return null;
  if (scheme.toLowerCase() === "bearer") return { kind: "bearer", token: value };
  return readBasic(value);
}

function readBasic(value: string): Credential | null {
  let text: string;
  try {
    const bytes = Uint8Array.from(atob(value), (character) => character.charCodeAt(0));
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
  const colon = text.indexOf(":");
  if (colon < 0) return null;
  return { kind: "basic", name: text.slice(0, colon), password: text.slice(colon + 1) };
}

function readToken(token: string | undefined): Credential | null {
  return token === undefined || token === "" ? null : { kind: "bearer", token };
}
