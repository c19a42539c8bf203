import { createMiddleware } from "hono/factory";
import { Unavailable } from "../services/kernel/errors.ts";
import { Semaphore } from "../services/kernel/semaphore.ts";
import { TokenBucket } from "../services/kernel/token_bucket.ts";
import { ApiRoutes } from "./api_routes.ts";
import { type AppEnv, callerOf } from "./environment.ts";
import { z } from "./extended_zod.ts";
import type { BodyReader } from "../http/mod.ts";
import type { AdminLogin } from "../services/people/admins/mod.ts";
import { loginSchema } from "../services/people/admins/schemas.ts";
import type { WebSessions } from "../services/people/identity/mod.ts";
import { authenticate, type AuthenticateOptions } from "./middleware/authenticate.ts";
import { jsonBody } from "./middleware/body.ts";
import { sameOrigin } from "./middleware/browsers.ts";
import {
  isFromBrowser,
  loginAt,
  pagesElsewhere,
  type PagesPlace,
} from "./middleware/pages_host.ts";
import {
  clearSessionCookies,
  readSession,
  sessionOf,
  setSessionCookies,
} from "./middleware/session.ts";
import { errors, json, jsonRequest } from "./schemas.ts";
import { specialRoute } from "./special_route.ts";

/** Logins that may wait for the next ones; one more is refused. */
const MAX_WAITING = 1000;

/**
 * A login costs the main thread one or two milliseconds; a message takes several turns of the event
 * loop and should meet few logins.
 */
const PACE = { perSecond: 200, burst: 1 };

/**
 * Lets simultaneous requests proceed one by one, so that other work of the program can run between
 * them. A single request proceeds at once. If too many wait, the answer is 503. Place this before
 * slow middleware and after the middleware that refuses floods from one address.
 */
function paceLogins() {
  const refusal = () => new Unavailable("Too many logins at the moment");
  const semaphore = new Semaphore({ permits: 1, maxWaiting: MAX_WAITING, refusal });
  const bucket = new TokenBucket(PACE, performance.now());
  const wait = async () => {
    using _permit = await semaphore.acquire();
    const delay = bucket.delay(performance.now());
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    bucket.take(performance.now());
  };
  return createMiddleware<AppEnv>(async (_context, next) => {
    await wait();
    await next();
  });
}

export interface LoginRoutesOptions extends AuthenticateOptions {
  readonly adminLogin: AdminLogin;
  readonly webSessions: WebSessions;
  readonly bodies: BodyReader;
}

const loggedInSchema = z.object({ username: z.string() }).openapi("LoggedIn");

const sessionSchema = loggedInSchema.extend({
  expires_at: z.iso.datetime().openapi({ description: "Later after each use" }),
}).openapi("Session");

const endSession = specialRoute("POST /logout", {
  operationId: "logOut",
  summary: "End the session of the cookie, if there is one",
  responses: { 204: { description: "Nobody is logged in" }, ...errors(404, 503) },
});

/** `POST /login`, `POST /logout` and `GET /session`: the sessions of the web pages. */
export function loginRoutes(options: LoginRoutesOptions) {
  const { adminLogin: login, webSessions, bodies } = options;

  const beginSession = specialRoute(
    "POST /login",
    {
      operationId: "logIn",
      summary: "Log in as an admin, or as a person with an IRC account",
      request: {
        body: jsonRequest(loginSchema.meta({ id: "LoginRequest" }), {
          username: "admin",
          password: "correct horse battery",
        }),
      },
      responses: {
        200: json(loggedInSchema, "Logged in; the answer sets the session's cookies"),
        303: {
          description: "A browser under a name that other programs of this machine share",
          headers: z.object({ Location: z.string() }),
        },
        ...errors(400, 404, 413, 429, 503),
      },
    },
    leadBrowsers(options),
    sameOrigin(),
    countAttempt(login),
    paceLogins(),
    jsonBody({ readerFor: () => bodies }),
    leadForms(options),
  );

  const showSession = specialRoute("GET /session", {
    operationId: "getSession",
    summary: "Show whose session it is",
    responses: { 200: json(sessionSchema, "The session"), ...errors(404) },
  }, authenticate(options, "cookie"));

  return new ApiRoutes()
    .openapi(beginSession, async (context) => {
      const { address, requestId } = context.var;
      const before = sessionOf(context, options);
      // Browsers log in at `/enter`; programs keep no mark.
      const from = { address, requestId, browser: null };
      const session = await login.logIn(context.req.valid("json"), from, before);
      setSessionCookies(context, session);
      return context.json({ username: session.principal.name }, 200);
    })
    .openapi(endSession, async (context) => {
      const session = readSession(context, options);
      if (session !== null) {
        context.set("principal", session.principal);
        await webSessions.close(callerOf(context));
      }
      clearSessionCookies(context);
      return context.body(null, 204);
    })
    .openapi(showSession, (context) => {
      const { principal, expiresAt } = context.get("session");
      const expires_at = new Date(expiresAt).toISOString();
      return context.json({ username: principal.name, expires_at }, 200);
    });
}

/** How the text of a form begins: with the name of a field, or with the mark between parts. */
const FORM = /^(?:--|[\w.%+-]{1,200}=)/;

/**
 * Leads browsers to the login of the pages, if they came under a name that this program shares with
 * others.
 */
function leadBrowsers(place: PagesPlace) {
  return createMiddleware<AppEnv>(async (context, next) => {
    const base = isFromBrowser(context) ? pagesElsewhere(context, place) : null;
    return base === null ? await next() : context.redirect(loginAt(base, "/"), 303);
  });
}

/** The same for forms, which older browsers send without saying so. Place it after the body. */
function leadForms(place: PagesPlace) {
  return createMiddleware<AppEnv>(async (context, next) => {
    const base = FORM.test(context.get("body") ?? "") ? pagesElsewhere(context, place) : null;
    return base === null ? await next() : context.redirect(loginAt(base, "/"), 303);
  });
}

/** Every attempt counts, even with a malformed body. */
function countAttempt(login: AdminLogin) {
  return createMiddleware<AppEnv>(async (context, next) => {
    login.admit({ address: context.get("address"), browser: null });
    await next();
  });
}
