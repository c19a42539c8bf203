import type { z } from "zod";
import type { Waits } from "../http/mod.ts";
import type { AnyProjectOperation, ProjectApi } from "../routes/projects/project_api.ts";
import type { Agents, Halts } from "../services/people/agents/mod.ts";
import type { Bridge } from "../services/chat/bridge/mod.ts";
import type { Scheduler } from "../services/kernel/scheduler.ts";
import type { EarlyEnd } from "../services/kernel/early_end.ts";
import { Invalid } from "../services/kernel/errors.ts";
import type { Caller, Principal } from "../services/people/identity/mod.ts";
import type { Services } from "../services/operation/daemon/mod.ts";
import type { Declaration, ValueOf } from "../services/people/identity/operation.ts";
import type {
  InnerCall,
  ServerHead,
  ServerOperation,
} from "../services/people/identity/server_operation.ts";
import type { DirectMessages, InboxDoor } from "../services/chat/inboxes/mod.ts";
import type { FreeSpace } from "../services/kernel/files.ts";
import type { Status } from "../services/operation/metrics/mod.ts";
import type { Needs } from "../services/people/needs/mod.ts";
import type { ProjectOperation } from "../services/work/projects/operation.ts";
import type { Questions } from "../services/oversight/questions/mod.ts";
import { followsTasks } from "./tasks.ts";
import { replyIn, showsForms, type UserReply } from "./user_forms.ts";

/** The services of the operations on the server that tools invoke. */
export interface ServerServices {
  readonly status: Pick<Status, "read">;
  readonly agents: Pick<Agents, "register" | "counts"> & {
    readonly halts: Pick<Halts, "requireGoing">;
  };
  readonly space: Pick<FreeSpace, "require">;
  readonly inboxes: Pick<InboxDoor, "read" | "seen" | "reaches" | "acknowledge">;
  readonly directMessages: Pick<DirectMessages, "send" | "fate" | "placeOfAnswer">;
  readonly questions: Questions;
  readonly needs: Needs;
  /** Null if the configuration turns the bridge off. */
  readonly bridge:
    | Pick<Bridge, "nick" | "whenReady" | "summaries" | "messagesAsJson" | "post" | "users">
    | null;
}

/** What every call of a tool needs. */
export interface ToolServices extends ServerServices {
  /** Absent: there are no tools for projects. */
  readonly projectApi?: ProjectApi | undefined;
  /** Those of all operations; absent: no operation on the server is a tool by its declaration. */
  readonly all?: Services | undefined;
  /** Ends the waits of ended credentials. */
  readonly waits: Waits;
  /** Whether the caller gets texts alone, which then have whole hashes and times. */
  readonly hasTextsAlone?: true;
  /** Default: the system's. */
  readonly scheduler?: Pick<Scheduler, "now"> | undefined;
}

/** An operation on the server, whatever its input and answer are. */
export interface AnyServerOperation {
  readonly declared: ServerHead & Declaration<z.ZodObject, z.ZodType, z.ZodType>;
  invoke(services: Services, input: object, call: InnerCall): Promise<unknown>;
}

export type AnyOperation = AnyProjectOperation | AnyServerOperation;

/** What a request says of its client. Nobody has checked it. */
export interface ClientSide {
  readonly capabilities: unknown;
  /** Its replies to what an earlier call asked, and the state that this call gave. */
  readonly responses: unknown;
  readonly state: unknown;
  /** Tells it how far the call is; absent if it did not ask. */
  readonly progress?: (done: number, total: number) => Promise<void>;
}

/** The context of a call, beside its arguments. */
export interface ToolContext {
  readonly caller: Caller;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** Whether the client can ask its user; then a tool may throw {@link UserAsked}. */
  readonly hasUser?: boolean;
  /** What the user replied to the form of an earlier call. */
  readonly reply?: UserReply | null;
  /** Whether the client follows a task in place of waiting for an answer. */
  readonly followsTasks?: boolean;
  /** As {@link ClientSide} has it. */
  readonly progress?: ClientSide["progress"] | undefined;
}

/** The context of a call whose client can ask its user. */
export function withUser({ caller, signal }: ToolContext, reply: UserReply | null): ToolContext {
  return { caller, signal, hasUser: true, reply };
}

/** The context of a call whose request says something of its client. */
export function withClient(context: ToolContext, client: ClientSide): ToolContext {
  const { capabilities, responses, state, progress } = client;
  const { caller, signal } = context;
  const told = { caller, signal, progress, followsTasks: followsTasks(capabilities) };
  if (!showsForms(capabilities)) return told;
  return { ...told, hasUser: true, reply: replyIn(responses, state) };
}

/** An input that may ask to wait. */
interface Waiting {
  readonly wait_seconds?: number | string | undefined;
}

/** Most entries on a page of an operation. */
const PAGE = 100;

/** A part of a list: how many entries to skip, and how many to take. */
export interface Part {
  readonly offset: number;
  readonly limit: number;
}

/** The services of operations in a project, as `ProjectApi` has them. */
type ProjectServices = ConstructorParameters<typeof ProjectApi>[0];

type InProject<Input extends z.ZodObject, Ok extends z.ZodType, New extends z.ZodType> =
  ProjectOperation<Input, ProjectServices, Ok, New>;

type OnServer<Input extends z.ZodObject, Ok extends z.ZodType, New extends z.ZodType> =
  ServerOperation<Input, ServerServices, Ok, New>;

/** A call of a tool: it invokes operations in the name of its caller. */
export class ToolCall {
  readonly context: ToolContext;
  readonly #services: ToolServices;
  readonly #slug: string | null;

  /** @param slug the project in which it acts; null if it acts in none, or in several */
  constructor(services: ToolServices, context: ToolContext, slug: string | null) {
    this.#services = services;
    this.context = context;
    this.#slug = slug;
  }

  get principal(): Principal {
    return this.context.caller.principal;
  }

  /** The projects, for reads that are no operations. */
  get api(): ProjectApi {
    return apiOf(this.#services);
  }

  /** The project in which it acts. */
  get slug(): string {
    if (this.#slug === null) throw new Error("The tool acts in no project");
    return this.#slug;
  }

  /** The project in which it acts; null if it acts in none, or in several. */
  get projectSlug(): string | null {
    return this.#slug;
  }

  /** The same call in a project. */
  in(slug: string): ToolCall {
    return new ToolCall(this.#services, this.context, slug);
  }

  /**
   * Invokes an operation in the project of the call, or on the server. One that waits for news ends
   * when the client is gone or the caller's credential ends.
   *
   * @throws {ServiceError} the refusal of the operation
   */
  async invoke<Input extends z.ZodObject, Ok extends z.ZodType, New extends z.ZodType>(
    operation: InProject<Input, Ok, New> | OnServer<Input, Ok, New>,
    input: z.input<Input>,
    more: Omit<InnerCall, "caller" | "end"> = {},
  ): Promise<ValueOf<Ok, New>> {
    const { caller } = this.context;
    if (isInProject(operation)) {
      return await this.#waiting(
        operation.declared,
        input,
        (end) => this.api.invoke(this.slug, operation, input, caller, end),
      );
    }
    return await this.#invokeOnServer(
      operation.declared,
      input,
      more,
      (call) => operation.invoke(this.#services, input, call),
    );
  }

  /** Invokes an operation of which only the declaration is known, as {@link invoke} does. */
  async invokeAny(operation: AnyOperation, input: object): Promise<unknown> {
    if ("needs" in operation.declared) {
      const inProject = operation as AnyProjectOperation;
      return await this.api.invokeAny(this.slug, inProject, input, this.context.caller);
    }
    const onServer = operation as AnyServerOperation;
    const { all } = this.#services;
    if (all === undefined) throw new Error("This server has no services for the operation");
    return await this.#invokeOnServer(
      onServer.declared,
      input,
      {},
      (call) => onServer.invoke(all, input, call),
    );
  }

  async #invokeOnServer<Value>(
    declared: ServerHead,
    input: Waiting,
    more: Omit<InnerCall, "caller" | "end">,
    invoke: (call: InnerCall) => Promise<Value>,
  ): Promise<Value> {
    const call = { via: "mcp" as const, ...more, caller: this.context.caller };
    return await this.#waiting(
      declared,
      input,
      (end) => invoke({ ...call, ...end === undefined ? {} : { end } }),
    );
  }

  /** One that waits for news ends when the client is gone or the caller's credential ends. */
  async #waiting<Value>(
    { waits }: Pick<ServerHead, "waits">,
    { wait_seconds = 0 }: Waiting,
    invoke: (end?: EarlyEnd) => Promise<Value>,
  ): Promise<Value> {
    const { context } = this;
    const seconds = Number(wait_seconds);
    if (waits === undefined || seconds === 0) return await invoke();
    // A client that hears of progress, if it asked to, does not take the wait for a failure.
    await context.progress?.(0, seconds);
    // The signal is made when it is asked for, which costs as much as a short call.
    return await this.#services.waits.run(context.caller.principal, context.signal, invoke);
  }

  /**
   * Reads any part of a list that has pages.
   *
   * @param part what to read
   * @param read reads a page
   * @param entriesOf the entries in the answer
   * @returns the answer for the last page, and the entries of the part
   */
  async part<Answer extends { readonly total: number }, Entry>(
    { offset, limit }: Part,
    read: (page: { readonly page: number; readonly per_page: number }) => Promise<Answer>,
    entriesOf: (answer: Answer) => readonly Entry[],
  ): Promise<{ readonly answer: Answer; readonly entries: Entry[] }> {
    const size = offset % limit === 0 && limit <= PAGE ? limit : PAGE;
    const first = Math.floor(offset / size);
    const found: Entry[] = [];
    for (let page = first;; page++) {
      const answer = await read({ page: page + 1, per_page: size });
      const skipped = Math.max(0, offset - page * size);
      found.push(...entriesOf(answer).slice(skipped));
      const reached = (page + 1) * size;
      if (reached >= answer.total || reached >= offset + limit) {
        return { answer, entries: found.slice(0, limit) };
      }
    }
  }
}

function isInProject<Input extends z.ZodObject, Ok extends z.ZodType, New extends z.ZodType>(
  operation: InProject<Input, Ok, New> | OnServer<Input, Ok, New>,
): operation is InProject<Input, Ok, New> {
  return "needs" in operation.declared;
}

function apiOf({ projectApi }: ToolServices): ProjectApi {
  if (projectApi === undefined) throw new Error("This server has no projects");
  return projectApi;
}

/** How many projects an error names. */
const MAX_NAMED = 20;

/** How much of a slug an error repeats. */
const MAX_SLUG = 100;

/**
 * The project of a call: the named one, or the only one that the caller reaches.
 *
 * @throws Invalid if there is no such project, or it reaches none or several
 */
export function slugOf(services: ToolServices, slug: unknown, principal: Principal): string {
  const api = apiOf(services);
  if (typeof slug === "string" && slug !== "") {
    if (api.reaches(slug, principal)) return slug;
    throw new Invalid(
      `There is no project "${
        slug.slice(0, MAX_SLUG)
      }" that you may see; list_projects names yours`,
    );
  }
  const part = { offset: 0, limit: MAX_NAMED };
  const { projects, total } = api.reachable(principal, part);
  const [only, ...others] = projects.map((project) => project.slug);
  if (only === undefined) {
    throw new Invalid("There is no project that you may see. Ask the operator to add you to one");
  }
  if (others.length === 0) return only;
  const names = [only, ...others].join(", ") + (total > MAX_NAMED ? ", …" : "");
  throw new Invalid(`"slug" is required, because you reach several projects: ${names}`);
}
