import type { Context } from "hono";
import type { Child } from "hono/jsx";
import { getCookie, setCookie } from "hono/cookie";
import { HTTPException } from "hono/http-exception";
import { accepts, bodyLimitsOf, BodyReader, isLong } from "../http/mod.ts";
import type { AppEnv } from "../routes/environment.ts";
import { noteRetry, statusOf } from "../routes/middleware/errors.ts";
import { proveAgain } from "../routes/middleware/authenticate.ts";
import { isAstray } from "../routes/middleware/pages_host.ts";
import { cookieName, sessionOf, setSessionCookies } from "../routes/middleware/session.ts";
import {
  Forbidden,
  Invalid,
  NotFound,
  ServiceError,
  Unauthorized,
} from "../services/kernel/errors.ts";
import { GUEST, isCsrfToken, type WebSession } from "../services/people/identity/mod.ts";
import { HeldBytes } from "../services/kernel/held_bytes.ts";
import { nextTurn } from "../services/kernel/pieces.ts";
import { accessOf } from "../services/work/projects/mod.ts";
import type { Assets } from "./assets.ts";
import { KeptForms } from "./kept_forms.ts";
import type { Leads, Page, View } from "./page.ts";
import { Document, themeOf } from "./parts/document.tsx";
import { ProjectSearch } from "./parts/project_search.tsx";
import { ClosedProject, Refusal } from "./parts/refusal.tsx";
import { showTurning } from "./parts/turning.ts";
import { placeOfRefusal } from "./project.ts";
import { type Surroundings, Visit } from "./visit.ts";

const NOTICE_COOKIE = "muster_notice";

/** How long a notice waits for the page that shows it, in seconds. */
const NOTICE_SECONDS = 30;

/** What the login says after a form whose session had ended. */
const ENDED_NOTICE =
  "Your session had ended. Log in again to find what you wrote; nothing was sent.";

/** What the page with a kept form says. */
const KEPT_NOTICE =
  "Your session had ended. Here is what you wrote: look at it, and send it again.";

/** What guests read in place of advice to the operator. */
const AWAY_FOR_GUESTS = "The server cannot show this at the moment. Try again later";

/** The most fields of a form. */
const MAX_FIELDS = 1000;

/** Longest address of a page, in characters: many links on a page repeat its query. */
const MAX_ADDRESS = 16_384;

/** A host in the form that a policy can name; it cannot name an IPv6 address. */
const NAMEABLE = /^[a-z0-9._-]+(?::\d+)?$/i;

/**
 * The `Content-Security-Policy` of a page (W3C CSP level 3). The browser runs and styles with
 * nothing but the assets, of all that this host serves: other paths have the bytes of users.
 * A proxy may have another port than its `Host` says.
 */
function policyOf(context: Context<AppEnv>): string {
  const { host, hostname } = new URL(context.req.url);
  const named = context.get("isProxied") ? `${hostname}:*` : host;
  const assets = NAMEABLE.test(host) ? `${named}/assets/` : "'self'";
  return [
    "default-src 'none'",
    `script-src ${assets}`,
    `style-src ${assets}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** Answers requests for pages. */
export class Dispatch {
  readonly #surroundings: Surroundings;
  readonly #assets: () => Promise<Assets>;
  readonly #bodies: BodyReader;
  readonly #keptForms: KeptForms;
  readonly #proveAgain: ReturnType<typeof proveAgain>;
  /** Ends when the next page may be rendered. */
  #turn: Promise<void> = Promise.resolve();

  constructor(surroundings: Surroundings, assets: () => Promise<Assets>) {
    this.#surroundings = surroundings;
    this.#assets = assets;
    this.#proveAgain = proveAgain(surroundings.services);
    this.#bodies = new BodyReader(bodyLimitsOf(surroundings.services.config));
    this.#keptForms = new KeptForms(surroundings.services.scheduler);
  }

  /** Answers GET, or a form, for a page. */
  async answer(context: Context<AppEnv>, load: () => Promise<Page>): Promise<Response> {
    const session = this.#identify(context);
    context.set("prove", this.#proveAgain);
    const { refusal = null } = context.env;
    if (refusal !== null) return await this.refuse(context, refusal);
    try {
      const page = await load();
      if (context.req.url.length > MAX_ADDRESS) {
        throw new Invalid(`The address is longer than ${MAX_ADDRESS} characters`);
      }
      const visit = new Visit(context, this.#surroundings, { session });
      if (context.req.method !== "POST") {
        if (page.json !== undefined && wantsJson(context)) {
          const path = page.json(visit);
          return context.redirect(path.startsWith("/v1/") ? path : this.#apiOf(visit) + path, 303);
        }
        admit(page, session);
        return await this.#show(context, page, visit);
      }
      // Only a form that may be kept is read before its sender is admitted.
      if (page.keeps === undefined) admit(page, session);
      const form = parseForm(await this.#bodies.read(context.req.raw));
      await this.#proveAgain(context);
      requireShort(form);
      const led = session === null ? this.#keep(page, visit, form) : null;
      if (led !== null) return led;
      admit(page, session);
      return await this.#act(context, page, session, form);
    } catch (error) {
      return await this.refuse(context, error);
    }
  }

  /** Shows why a page cannot be shown. A guest who may not see it gets the way to log in. */
  async refuse(context: Context<AppEnv>, error: unknown): Promise<Response> {
    const before = this.#identify(context);
    // It may have ended while the form arrived.
    const session = before === null ? null : sessionOf(context, this.#surroundings.services);
    const visit = new Visit(context, this.#surroundings, { session });
    if (error instanceof Unauthorized && session === null) {
      const { pathname, search } = visit.url;
      return context.redirect(`/login?next=${encodeURIComponent(pathname + search)}`, 303);
    }
    if (error instanceof HTTPException) throw error;
    if (!(error instanceof ServiceError)) return await this.#admitBug(visit, error);
    const status = statusOf(error);
    noteRetry(context, error);
    const message = session === null && status === 503 ? AWAY_FOR_GUESTS : error.message;
    return await this.#render(visit, refusalOf(visit, status, message));
  }

  /** Logs a bug, and says so. */
  async #admitBug(visit: Visit, error: unknown): Promise<Response> {
    const { requestId } = visit.context.var;
    visit.services.log.error("A request failed on a bug", { requestId, error });
    const message = `The server failed on a bug. Its log has it under ${requestId}`;
    return await this.#render(visit, refusalOf(visit, 500, message));
  }

  /** The session of the request. Its principal is an admin, a person, or else a guest. */
  #identify(context: Context<AppEnv>): WebSession | null {
    if (context.get("principal") !== undefined) return context.get("session") ?? null;
    const session = sessionOf(context, this.#surroundings.services);
    context.set("principal", session?.principal ?? GUEST);
    if (session === null) return null;
    this.#keptForms.recognize(session);
    context.set("session", session);
    if (session.renewed) setSessionCookies(context, session);
    return session;
  }

  /** The base of the API of a page's project. */
  #apiOf(visit: Visit): string {
    const { scm } = this.#surroundings.services.config.projects;
    return `/projects/${encodeURIComponent(visit.param("slug"))}/${scm}`;
  }

  async #show(context: Context<AppEnv>, page: Page, visit: Visit): Promise<Response> {
    const { session } = visit;
    const form = this.#keptForms.find(visit.url, session);
    // No refusal: a page that was changed meanwhile must still be found out when the form is sent.
    const shown = form === null ? visit : new Visit(context, this.#surroundings, { session, form });
    const view = await page.show(shown);
    if (view instanceof Response) return view;
    const notice = isAstray(context, this.#surroundings.services) ? null : takeNotice(context);
    return await this.#render(shown, view, form === null ? notice : KEPT_NOTICE);
  }

  /**
   * Keeps a form whose session ended before it was sent, and leads to the login and back.
   *
   * @returns null if it has nothing to keep
   */
  #keep(page: Page, visit: Visit, form: URLSearchParams): Response | null {
    const isKept = page.keeps?.includes(form.getAll("action").at(-1) ?? "") ?? false;
    const kept = isKept && !visit.isScripted ? this.#keptForms.keep(visit.url, form) : null;
    if (kept === null) return null;
    const next = encodeURIComponent(kept);
    return lead(visit.context, { to: `/login?next=${next}`, notice: ENDED_NOTICE });
  }

  async #act(
    context: Context<AppEnv>,
    page: Page,
    session: WebSession | null,
    form: URLSearchParams,
  ): Promise<Response> {
    const name = form.getAll("action").at(-1) ?? "";
    const { actions = {} } = page;
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action === undefined) throw new NotFound("This page has no such form");
    try {
      if (session !== null && !isCsrfToken(session, form.get("csrf") ?? "")) {
        throw new Forbidden("This form is from before you logged in here: send it again");
      }
      if (page.newWork?.includes(name)) this.#surroundings.services.space.require();
      const visit = new Visit(context, this.#surroundings, { session, form });
      const outcome = await action(visit);
      if (outcome instanceof Response || isLeads(outcome)) {
        this.#keptForms.forget(visit.url, session);
      }
      if (outcome instanceof Response) return outcome;
      if (isLeads(outcome)) return lead(context, outcome);
      return await this.#render(new Visit(context, this.#surroundings, { session }), outcome);
    } catch (error) {
      if (!(error instanceof ServiceError) || error instanceof Unauthorized) throw error;
      const refusal = error.message;
      const visit = new Visit(context, this.#surroundings, { session, form, refusal });
      const view = await page.show(visit);
      if (view instanceof Response) return view;
      noteRetry(context, error);
      return await this.#render(visit, { ...view, status: statusOf(error) });
    }
  }

  /** Waits for a turn in which no other page is rendered: other work has turns between two pages. */
  async #ownTurn(): Promise<void> {
    const before = this.#turn;
    this.#turn = before.then(nextTurn);
    await before;
  }

  async #render(visit: Visit, view: View, notice: string | null = null): Promise<Response> {
    const { context } = visit;
    const assets = await this.#assets();
    const document = <Document {...{ visit, view, notice, assets }} theme={themeOf(context)} />;
    // A part of the page may wait for something, so that its text is a promise.
    await this.#ownTurn();
    const text = `<!DOCTYPE html>${await document.toString()}`;
    if (isLong(text.length)) await nextTurn();
    const html = showTurning(text);
    const milliseconds = (performance.now() - visit.started).toFixed(1);
    return sendHtml(context, html, (view.status ?? 200) as 200, {
      "Server-Timing": `page;dur=${milliseconds}, reads;desc="${visit.reads}"`,
      "Cache-Control": "no-store",
      "Content-Security-Policy": policyOf(context),
      "Referrer-Policy": "same-origin",
    });
  }
}

/** Sends a long page in parts. */
function sendHtml(
  context: Context<AppEnv>,
  html: string,
  status: 200,
  headers: Record<string, string>,
): Response {
  if (!isLong(html.length)) return context.html(html, status, headers);
  const bytes = new HeldBytes(new TextEncoder().encode(html));
  const body = bytes.stream();
  bytes.letGo();
  return context.body(body, status, {
    ...headers,
    "Content-Type": "text/html; charset=UTF-8",
    "Content-Length": String(bytes.length),
  });
}

/** What a visitor sees in place of a page. Inside a project, its parts and its search stay. */
function refusalOf(visit: Visit, status: number, message: string): View {
  const project = placeOfRefusal(visit);
  // Neither a login nor a search mends the server.
  const isFault = status >= 500;
  const body = closedProjectOf(visit, status) ?? (
    <Refusal
      status={status}
      message={message}
      isGuest={visit.session === null && !isFault}
      search={project === null || isFault
        ? null
        : <ProjectSearch slug={project.slug} q={visit.query("q")} />}
    />
  );
  return { title: String(status), body, status, ...(project === null ? {} : { project }) };
}

/** What an admin sees in place of a project in which the admin has no role; null for other pages. */
function closedProjectOf(visit: Visit, status: number): Child | null {
  const [, encoded = ""] = /^\/projects\/([^/]+)/.exec(visit.url.pathname) ?? [];
  if (status !== 404 || !visit.isAdmin || encoded === "") return null;
  const held = visit.services.hosting.projects.find(encoded);
  if (held === null || accessOf(held, visit.principal).may("read")) return null;
  return <ClosedProject slug={held.project.slug} />;
}

/**
 * Parses a form. A megabyte of short fields would take a second, in which nobody else is answered.
 *
 * @throws Invalid if it has too many fields
 */
function parseForm(text: string): URLSearchParams {
  let fields = 1;
  for (let at = text.indexOf("&"); at !== -1; at = text.indexOf("&", at + 1)) {
    if (++fields > MAX_FIELDS) throw new Invalid(`The form has more than ${MAX_FIELDS} fields`);
  }
  return new URLSearchParams(text);
}

/** Fields of forms that hold whole texts; the services judge their length. */
const TEXTS: ReadonlySet<string> = new Set([
  "content",
  "body",
  "comment",
  "description",
  "text",
  "answer",
  "message",
  "json",
  "prompt",
]);

/** The beginnings of the names of fields of tickets and of policies, which may hold texts too. */
const PREFIXES_OF_TEXTS = ["field:", "field."];

/** Longest other field of a form, in characters: room for a list of names. */
const MAX_FIELD = 5000;

/**
 * Bounds what pages hand on: some of it reaches a service without a schema.
 *
 * @throws Invalid naming the field
 */
function requireShort(form: URLSearchParams): void {
  for (const [name, value] of form) {
    if (name.length > MAX_FIELD) {
      throw new Invalid(`The name of a field has more than ${MAX_FIELD} characters`);
    }
    const isText = TEXTS.has(name) || PREFIXES_OF_TEXTS.some((prefix) => name.startsWith(prefix));
    if (isText || value.length <= MAX_FIELD) continue;
    throw new Invalid(`"${name}" must have at most ${MAX_FIELD} characters`);
  }
}

/** Whether a request comes from a program that reads JSON, and not from a browser. */
function wantsJson(context: Context<AppEnv>): boolean {
  const accept = context.req.header("accept");
  return accepts(accept, "application/json") && !accepts(accept, "text/html");
}

/**
 * @throws Unauthorized for a guest, Forbidden for a person on an admin's page
 */
function admit({ opens }: Page, session: WebSession | null): void {
  if (opens === "anybody") return;
  if (session === null) throw new Unauthorized("Log in to see this page");
  if (opens === "admin" && session.principal.kind !== "admin") {
    throw new Forbidden("Only admins see this page");
  }
}

function isLeads(outcome: Leads | View): outcome is Leads {
  return "to" in outcome;
}

/** Leads the browser to a page, which then shows the notice once. */
function lead(context: Context<AppEnv>, { to, notice }: Leads): Response {
  if (notice !== undefined) {
    setCookie(context, cookieName(context, NOTICE_COOKIE), notice.slice(0, 500), {
      path: "/",
      httpOnly: true,
      sameSite: "Lax",
      secure: context.get("secure"),
      maxAge: NOTICE_SECONDS,
    });
  }
  return context.redirect(to, 303);
}

function takeNotice(context: Context<AppEnv>): string | null {
  const name = cookieName(context, NOTICE_COOKIE);
  const notice = getCookie(context, name);
  if (notice === undefined) return null;
  setCookie(context, name, "", { path: "/", maxAge: 0, secure: context.get("secure") });
  return notice;
}
