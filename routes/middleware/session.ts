import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { SESSION_COOKIE } from "../../http/mod.ts";
import { Forbidden } from "../../services/errors.ts";
import {
  isCsrfToken,
  SESSION_SECONDS,
  type WebSession,
  type WebSessions,
} from "../../services/identity/mod.ts";
import type { AppEnv } from "../context.ts";

const CSRF_COOKIE = "muster_csrf";

/** Safe methods (RFC 9110, section 9.2.1), which need no CSRF token. */
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * The session of the request's cookie, or null.
 *
 * @throws Forbidden if the request may change something and lacks the session's CSRF token
 */
export function readSession(
  context: Context<AppEnv>,
  sessions: Pick<WebSessions, "find">,
): WebSession | null {
  const session = sessionOf(context, sessions);
  if (session === null || SAFE_METHODS.has(context.req.method)) return session;
  if (isCsrfToken(session, context.req.header("x-csrf-token") ?? "")) return session;
  throw new Forbidden(
    `A request with a session cookie must repeat the cookie ${CSRF_COOKIE} in the header X-CSRF-Token`,
  );
}

/**
 * The session of the request's cookie, or null. Before the request changes something, check its
 * CSRF token.
 */
export function sessionOf(
  context: Context<AppEnv>,
  sessions: Pick<WebSessions, "find">,
): WebSession | null {
  const secret = getCookie(context, SESSION_COOKIE);
  const session = secret === undefined ? null : sessions.find(secret);
  if (session !== null) context.env.trust?.(session.principal);
  return session;
}

/** Sets the cookies of a session and of its CSRF token, which our pages may read. */
export function setSessionCookies(context: Context<AppEnv>, session: WebSession): void {
  setCookies(context, session.secret, session.csrfToken, SESSION_SECONDS);
}

/** Deletes both cookies. */
export function clearSessionCookies(context: Context<AppEnv>): void {
  setCookies(context, "", "", 0);
}

function setCookies(
  context: Context<AppEnv>,
  secret: string,
  csrfToken: string,
  maxAge: number,
): void {
  const secure = context.get("secure");
  const options = { path: "/", sameSite: "Lax", secure, maxAge } as const;
  setCookie(context, SESSION_COOKIE, secret, { ...options, httpOnly: true });
  setCookie(context, CSRF_COOKIE, csrfToken, options);
  context.header("Cache-Control", "no-store");
}
