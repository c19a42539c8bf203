import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { SESSION_COOKIE } from "../../http/mod.ts";
import { Forbidden } from "../../services/kernel/errors.ts";
import {
  isCsrfToken,
  SESSION_SECONDS,
  type WebSession,
  type WebSessions,
} from "../../services/people/identity/mod.ts";
import type { AppEnv } from "../environment.ts";
import { isAstray, type PagesPlace } from "./pages_host.ts";

const CSRF_COOKIE = "muster_csrf";
const BROWSER_COOKIE = "muster_browser";

/** Session cookies of one request that are looked at. A browser of ours sends one. */
const MAX_SESSION_COOKIES = 8;

/** What finds sessions, and where browsers may use them. */
export interface SessionPlace extends PagesPlace {
  readonly webSessions: Pick<WebSessions, "find">;
}

/**
 * The name of a cookie of this server. Over TLS, the prefix `__Host-` keeps out those of other hosts
 * below the same domain and of connections in clear text (RFC 6265bis, section 4.1.3.2).
 */
export function cookieName(context: Context<AppEnv>, name: string): string {
  return context.get("secure") ? `__Host-${name}` : name;
}

/** Safe methods (RFC 9110, section 9.2.1), which need no CSRF token. */
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * The session of the request's cookie, or null.
 *
 * @throws Forbidden if the request may change something and lacks the session's CSRF token
 */
export function readSession(
  context: Context<AppEnv>,
  place: SessionPlace,
): WebSession | null {
  const session = sessionOf(context, place);
  if (session === null || SAFE_METHODS.has(context.req.method)) return session;
  if (isCsrfToken(session, context.req.header("x-csrf-token") ?? "")) return session;
  throw new Forbidden(
    "A request with a session cookie must repeat the cookie " +
      `${cookieName(context, CSRF_COOKIE)} in the header X-CSRF-Token`,
  );
}

/**
 * The session of the request's cookie, or null, which it also is for a browser that came under
 * another name than that of the pages. Before the request changes something, check its CSRF token.
 *
 * Another host of the same site may add cookies of that name, and a request does not tell which one is
 * ours (RFC 6265bis, section 8.6). Those that open nothing are ignored; with two sessions, there is
 * none: nobody acts as somebody else unawares.
 */
export function sessionOf(context: Context<AppEnv>, place: SessionPlace): WebSession | null {
  const secrets = sessionCookies(context);
  if (secrets.length === 0 || isAstray(context, place)) return null;
  const found = secrets.map((secret) => place.webSessions.find(secret))
    .filter((session) => session !== null);
  const [session] = found;
  if (session === undefined || found.length > 1) return null;
  context.env.trust?.(session.principal);
  return session;
}

/** The different values of the session's cookie, in the order of the header (RFC 6265, section 5.4). */
function sessionCookies(context: Context<AppEnv>): readonly string[] {
  const start = `${cookieName(context, SESSION_COOKIE)}=`;
  const values = new Set<string>();
  for (const pair of (context.req.header("cookie") ?? "").split(";")) {
    const cookie = pair.trim();
    if (cookie.startsWith(start)) values.add(cookie.slice(start.length));
  }
  return [...values].slice(0, MAX_SESSION_COOKIES);
}

/** Sets the cookies of a session and of its CSRF token, which our pages may read. */
export function setSessionCookies(context: Context<AppEnv>, session: WebSession): void {
  setCookies(context, session.secret, session.csrfToken, SESSION_SECONDS);
}

/** How long a browser remembers that somebody has logged in there, in seconds: a year. */
const BROWSER_SECONDS = 365 * 86_400;

/** The mark of a browser in which somebody has logged in. */
export function browserMark(context: Context<AppEnv>): string | undefined {
  return getCookie(context, cookieName(context, BROWSER_COOKIE));
}

/** Lets a browser keep the mark that somebody has logged in there. */
export function setBrowserMark(context: Context<AppEnv>, mark: string): void {
  setCookie(context, cookieName(context, BROWSER_COOKIE), mark, {
    path: "/",
    sameSite: "Lax",
    secure: context.get("secure"),
    maxAge: BROWSER_SECONDS,
    httpOnly: true,
  });
}

/** Deletes the cookies of a session. */
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
  setCookie(context, cookieName(context, SESSION_COOKIE), secret, { ...options, httpOnly: true });
  setCookie(context, cookieName(context, CSRF_COOKIE), csrfToken, options);
  context.header("Cache-Control", "no-store");
}
