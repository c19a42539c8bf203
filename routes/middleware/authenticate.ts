import { createMiddleware } from "hono/factory";
import type { Context, HonoRequest } from "hono";
import { CREDENTIALS_MISSING, readAuthorization, wantsEventStream } from "../../http/mod.ts";
import { Unauthorized } from "../../services/kernel/errors.ts";
import {
  type Credential,
  GUEST,
  type Identity,
  type Principal,
} from "../../services/people/identity/mod.ts";
import type { AppEnv } from "../context.ts";
import type { QueryToken } from "../table.ts";
import { readSession, sessionOf, type SessionPlace, setSessionCookies } from "./session.ts";

/**
 * A place of a credential: the header `Authorization` with the scheme Bearer or Basic; a session's
 * cookie, which also needs the CSRF token for changes; or the query. With `guest`, a request
 * without a credential is a guest's.
 */
export type CredentialSource = "bearer" | "basic" | "cookie" | "guest" | QueryToken;

const SESSION_ENDED = "Nobody is logged in, or the session has ended";

export interface AuthenticateOptions extends SessionPlace {
  readonly identity: Pick<Identity, "authenticate" | "endings">;
}

/**
 * Finds the principal of a request by the credentials that its routes accept. A header wins over a
 * token in the query, and a token over a cookie. A request that already has a principal passes.
 *
 * @throws Unauthorized if the request has no such credential, or an invalid one
 */
export function authenticate(
  options: AuthenticateOptions,
  ...accepted: readonly CredentialSource[]
) {
  const { identity } = options;
  const sources = new Set(accepted);
  const prove = proveAgain(options);
  return createMiddleware<AppEnv>((context, next) => {
    context.set("prove", prove);
    // None of these waits for `next`: a request may wait for a minute, and what waits costs memory.
    if (context.get("principal") !== undefined) return next();
    const credential = credentialOf(context.req, sources);
    if (credential !== null) {
      const { endings } = identity;
      const enter = (principal: Principal) => {
        context.set("principal", principal);
        context.set("proof", { credential, endings });
        context.env.trust?.(principal);
        return next();
      };
      return identity.authenticate(credential, context.get("address")).then(enter);
    }
    const session = sources.has("cookie") ? readSession(context, options) : null;
    if (session === null && sources.has("guest") && !hasAuthorization(context.req)) {
      context.set("principal", GUEST);
      return next();
    }
    if (session === null) throw new Unauthorized(lacking(sources));
    context.set("principal", session.principal);
    context.set("session", session);
    if (session.renewed) setSessionCookies(context, session);
    return next();
  });
}

/**
 * Creates a check for requests that take time after their authentication, because a client may hold
 * one open until its credential has ended.
 *
 * @returns a function that throws Unauthorized if the request's credential has ended since, and
 * returns null if none has ended
 */
export function proveAgain(options: AuthenticateOptions) {
  const { identity } = options;
  return (context: Context<AppEnv>): Promise<void> | null => {
    const session = context.get("session") as AppEnv["Variables"]["session"] | undefined;
    if (session !== undefined && sessionOf(context, options)?.secret !== session.secret) {
      throw new Unauthorized(SESSION_ENDED);
    }
    const proof = context.get("proof") as AppEnv["Variables"]["proof"] | undefined;
    if (proof === undefined || identity.endings === proof.endings) return null;
    return enterAgain(context, proof.credential);
  };

  async function enterAgain(context: Context<AppEnv>, credential: Credential): Promise<void> {
    context.set("principal", await identity.authenticate(credential, context.get("address")));
  }
}

/** A credential of an unknown scheme does not count as none. */
function hasAuthorization(request: HonoRequest): boolean {
  return request.header("authorization") !== undefined;
}

function credentialOf(
  request: HonoRequest,
  sources: ReadonlySet<CredentialSource>,
): Credential | null {
  const shown = readAuthorization(request.header("authorization"));
  if (shown !== null && sources.has(shown.kind)) return shown;
  const isInQuery = sources.has("token") ||
    (sources.has("token of streams") && wantsEventStream(request.header("accept")));
  const token = isInQuery ? request.query("token") ?? "" : "";
  return token === "" ? null : { kind: "bearer", token };
}

function lacking(sources: ReadonlySet<CredentialSource>): string {
  return sources.has("bearer") ? CREDENTIALS_MISSING : SESSION_ENDED;
}
