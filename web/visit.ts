import type { Context } from "hono";
import type { z } from "zod";
import { Waits } from "../http/mod.ts";
import { type AppEnv, callerOf } from "../routes/environment.ts";
import type { ProjectApi } from "../routes/projects/project_api.ts";
import type { EventStreams } from "../routes/event_streams.ts";
import {
  addressForPrograms,
  isFromBrowser,
  loginAt,
  pagesElsewhere,
} from "../routes/middleware/pages_host.ts";
import {
  browserMark,
  clearSessionCookies,
  setBrowserMark,
  setSessionCookies,
} from "../routes/middleware/session.ts";
import type { Services } from "../services/operation/daemon/mod.ts";
import { Invalid } from "../services/kernel/errors.ts";
import type { Statistics } from "../services/engines/fossil/mod.ts";
import type { Caller, Principal, WebSession } from "../services/people/identity/mod.ts";
import type { ValueOf } from "../services/people/identity/operation.ts";
import type { ServerOperation } from "../services/people/identity/server_operation.ts";
import type { EarlyEnd } from "../services/kernel/early_end.ts";
import { describeIssue } from "../services/kernel/validation/mod.ts";
import { bounded } from "../services/kernel/validation/schemas.ts";

/** What the pages call. */
export interface Surroundings {
  readonly services: Services;
  readonly projectApi: ProjectApi;
  readonly streams: EventStreams;
}

/** The values of a query; undefined ones are absent. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The field with which a refusal begins. */
const REFUSED_FIELD = /^"([^"]+)"/;

/** Who sent a request, and what came with it. */
export interface Sent {
  readonly session: WebSession | null;
  readonly form?: URLSearchParams;
  /** Why the form was refused, when its page is shown again. */
  readonly refusal?: string;
}

/** A request for a page, or a form that was sent to it. */
export class Visit {
  readonly context: Context<AppEnv>;
  readonly services: Services;
  readonly streams: EventStreams;
  /** Null if nobody is logged in. */
  readonly session: WebSession | null;
  /** The fields of the form; empty for GET. */
  readonly form: URLSearchParams;
  /** Why the form was refused, when its page is shown again; else null. */
  readonly refusal: string | null;
  /** The number of the newest event when the request came, from which the live page continues. */
  readonly newestEvent: number;
  /** When it began, on the clock of `performance.now()`. */
  readonly started = performance.now();
  readonly #projectApi: ProjectApi;
  #url: URL | null = null;
  #reads = 0;

  constructor(
    context: Context<AppEnv>,
    surroundings: Surroundings,
    sent: Sent,
  ) {
    this.context = context;
    this.services = surroundings.services;
    this.streams = surroundings.streams;
    this.#projectApi = surroundings.projectApi;
    this.session = sent.session;
    this.form = sent.form ?? new URLSearchParams();
    this.refusal = sent.refusal ?? null;
    this.newestEvent = surroundings.services.eventLog.newest;
  }

  /** The person, the admin or the guest. */
  get principal(): Principal {
    return this.context.get("principal");
  }

  get caller(): Caller {
    return callerOf(this.context);
  }

  get isAdmin(): boolean {
    return this.principal.kind === "admin";
  }

  /** Whether a script sent the form, which needs no page in return. */
  get isScripted(): boolean {
    return this.context.req.header("accept") === "application/json";
  }

  get url(): URL {
    return this.#url ??= new URL(this.context.req.url);
  }

  /** The address of this server for programs, such as `https://muster.example`. */
  get origin(): string {
    return addressForPrograms(this.context, this.services);
  }

  /** Whether a page or the address bar of a browser sent the request. */
  get isFromBrowser(): boolean {
    return isFromBrowser(this.context);
  }

  /** Where a browser logs in that came by a name which others share; null: here. */
  loginElsewhere(next: string): string | null {
    const base = pagesElsewhere(this.context, this.services);
    return base === null ? null : loginAt(base, next);
  }

  /** Lets the browser keep a session; null ends what it keeps. */
  keepSession(session: WebSession | null): void {
    if (session === null) clearSessionCookies(this.context);
    else setSessionCookies(this.context, session);
  }

  /** The mark of this browser, if somebody has logged in there. */
  get browserMark(): string | undefined {
    return browserMark(this.context);
  }

  /** Lets the browser keep such a mark. */
  keepBrowserMark(mark: string): void {
    setBrowserMark(this.context, mark);
  }

  /** The field that the refusal of the form is about; null if it names none. */
  get refusedField(): string | null {
    return REFUSED_FIELD.exec(this.refusal ?? "")?.[1] ?? null;
  }

  /** A part of the address, decoded; "" if the pattern has no such part. */
  param(name: string): string {
    return this.context.req.param(name as never) ?? "";
  }

  /** A query parameter, or undefined where it is absent or empty. */
  query(name: string): string | undefined {
    return this.url.searchParams.get(name) || undefined;
  }

  /** The number of the page of a list, from 1. */
  get pageNumber(): number {
    return this.pageNumberOf("page");
  }

  /** The same of a list whose parameter has another name, since the page has several. */
  pageNumberOf(parameter: string): number {
    const number = Number(this.query(parameter) ?? 1);
    return Number.isSafeInteger(number) && number > 0 ? number : 1;
  }

  /** What the person entered in a field; the given value if the form was not sent. */
  entered(name: string, otherwise = ""): string {
    return this.form.get(name) ?? otherwise;
  }

  /**
   * Checks values for a service that is called by no operation.
   *
   * @throws Invalid naming the field
   */
  parse<Schema extends z.ZodType>(schema: Schema, values: unknown): z.output<Schema> {
    const { data, error } = bounded(schema).safeParse(values);
    if (error === undefined) return data;
    const [issue] = error.issues;
    throw new Invalid(issue === undefined ? "The form is not valid" : describeIssue(issue));
  }

  /**
   * Calls an operation in a project, with the rights of the caller.
   *
   * @param input may hold what a person entered: the operation validates it
   * @throws {ServiceError} the refusal; NotFound if the caller may not see the project
   */
  async invoke<Input extends z.ZodObject, Ok extends z.ZodType, New extends z.ZodType>(
    slug: string,
    operation: Parameters<typeof ProjectApi.prototype.invoke<Input, Ok, New>>[1],
    input: { readonly [Name in keyof z.input<Input>]?: unknown },
  ) {
    this.#reads++;
    return await this.#projectApi.invoke(slug, operation, input as z.input<Input>, this.caller);
  }

  /**
   * Calls an operation on the server, with the rights of the account that is logged in.
   *
   * @param input may hold what a person entered: the operation validates it
   * @param names the fields of the form that the operation calls otherwise, by its names
   * @throws {ServiceError} the refusal, which names fields as the form does
   */
  async invokeOnServer<Input extends z.ZodObject, Ok extends z.ZodType, New extends z.ZodType>(
    operation: ServerOperation<Input, Services, Ok, New>,
    input: { readonly [Name in keyof z.input<Input>]?: unknown },
    names: Readonly<Record<string, string>> = {},
  ): Promise<ValueOf<Ok, New>> {
    const { caller, services } = this;
    const invoke = (end?: EarlyEnd) =>
      operation.invoke(services, input as z.input<Input>, {
        caller,
        via: "web",
        ...end === undefined ? {} : { end },
      });
    try {
      if (operation.declared.waits !== "always") return await invoke();
      return await new Waits().run(caller.principal, this.context.req.raw.signal, invoke);
    } catch (error) {
      throw error instanceof Invalid ? new Invalid(renamed(error.message, names)) : error;
    }
  }

  /** Figures of a project's repository. */
  async figures(slug: string): Promise<Statistics> {
    this.#reads++;
    return await this.#projectApi.figures(slug, this.caller);
  }

  /** How many times the page has called the repository API so far. */
  get reads(): number {
    return this.#reads;
  }

  /** Every project that the visitor may see, by slug. */
  reachable(): ReturnType<ProjectApi["reachable"]>["projects"] {
    return this.#projectApi.reachable(this.principal, { limit: Infinity, offset: 0 }).projects;
  }
}

/** A refusal that begins with the name of a field, with the name that the form has for it. */
function renamed(message: string, names: Readonly<Record<string, string>>): string {
  return message.replace(REFUSED_FIELD, (quoted, field: string) => {
    const name = Object.hasOwn(names, field) ? names[field] : undefined;
    return name === undefined ? quoted : `"${name}"`;
  });
}

/** A path with a query. */
export function withQuery(path: string, query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}
