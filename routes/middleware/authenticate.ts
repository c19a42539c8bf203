import { createMiddleware } from "hono/factory";
import type { Context } from "hono";
import { getQueryParam } from "hono/utils/url";
import {
  CREDENTIALS_MISSING,
  readApiKey,
  readAuthorization,
  sessionKeyOf,
  wantsEventStream,
} from "../../http/mod.ts";
import { Unauthorized } from "../../services/kernel/errors.ts";
import {
  type Credential,
  GUEST,
  type Identity,
  type Principal,
} from "../../services/people/identity/mod.ts";
import type { AppEnv, Proof } from "../environment.ts";
import type { QueryToken } from "../table.ts";
import { readSession, sessionOf, type SessionPlace, setSessionCookies } from "./session.ts";

/**
 * A place of a credential: the header `Authorization` with the scheme Bearer or Basic; a header for
 * API keys; a session's cookie, which also needs the CSRF token for changes; or the query. With `guest`, a request
 * without a credential is a guest's.
 */
export type CredentialSource = "bearer" | "basic" | "api key" | "cookie" | "guest" | QueryToken;

const SESSION_ENDED = "Nobody is logged in, or the session has ended";

/** What knows credentials. */
export type Authenticating = Pick<
  Identity,
  "enter" | "authenticate" | "enterSession" | "endings"
>;

export interface AuthenticateOptions extends SessionPlace {
  readonly identity: Authenticating;
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
    const { raw } = context.req;
    const credential = credentialOf(raw, sources);
    if (credential !== null) {
      const { endings } = identity;
      const enter = (principal: Principal) => {
        context.set("principal", principal);
        context.set("proof", { credential, endings });
        context.env.trust?.(principal);
        return next();
      };
      const found = principalOf(identity, credential, context.get("address"));
      return found instanceof Promise ? found.then(enter) : enter(found);
    }
    const session = sources.has("cookie") ? readSession(context, options) : null;
    if (session === null && sources.has("guest") && !raw.headers.has("authorization")) {
      context.set("principal", GUEST);
      return next();
    }
    if (session === null) throw lacking(sources);
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
    const proof = context.get("proof") as Proof | undefined;
    if (proof === undefined) return null;
    return principalAgain(identity, proof, context.get("address"))
      ?.then((principal) => context.set("principal", principal)) ?? null;
  };
}

/**
 * The principal of a credential: at once for a valid token.
 *
 * @throws what {@linkcode Identity.authenticate} throws
 */
export function principalOf(
  identity: Authenticating,
  credential: Credential,
  address: string,
): Principal | Promise<Principal> {
  const principal = credential.kind === "bearer" ? identity.enter(credential.token) : null;
  const found = principal ?? identity.authenticate(credential, address);
  const { session } = credential;
  if (session === undefined) return found;
  const enter = (principal: Principal) =>
    identity.enterSession({ principal, address, requestId: null }, session);
  return found instanceof Promise ? found.then(enter) : enter(found);
}

/**
 * The principal of a credential that was valid before; null if no credential has ended since.
 *
 * @throws what {@linkcode Identity.authenticate} throws
 */
export function principalAgain(
  identity: Authenticating,
  { credential, endings }: Proof,
  address: string,
): Promise<Principal> | null {
  if (identity.endings === endings) return null;
  return Promise.resolve(principalOf(identity, credential, address));
}

/** The credential in a request's header or query, where its routes accept one; null without one. */
export function credentialOf(
  request: Pick<Request, "headers" | "url">,
  sources: ReadonlySet<CredentialSource>,
): Credential | null {
  const credential = shownIn(request, sources);
  const session = credential === null ? null : sessionKeyOf(request.headers);
  return credential === null || session === null ? credential : { ...credential, session };
}

function shownIn(
  { headers, url }: Pick<Request, "headers" | "url">,
  sources: ReadonlySet<CredentialSource>,
): Credential | null {
  const shown = readAuthorization(headers.get("authorization") ?? undefined);
  if (shown !== null && sources.has(shown.kind)) return shown;
  const key = sources.has("api key") ? readApiKey(headers) : null;
  if (key !== null) return key;
  const isInQuery = sources.has("token") ||
    (sources.has("token of streams") && wantsEventStream(headers.get("accept")));
  const token = isInQuery ? getQueryParam(url, "token") : undefined;
  return typeof token !== "string" || token === "" ? null : { kind: "bearer", token };
}

/** The error of a request without a credential that its routes accept. */
export function lacking(sources: ReadonlySet<CredentialSource>): Unauthorized {
  return new Unauthorized(sources.has("bearer") ? CREDENTIALS_MISSING : SESSION_ENDED);
}
