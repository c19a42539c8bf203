import type { Principal } from "../services/people/identity/mod.ts";
import type { Scheduler } from "../services/kernel/scheduler.ts";
import { isRecord, type RequestId, RPC_ERROR, rpcError } from "./json_rpc.ts";
import type { Library } from "./library.ts";
import { faultOfParams } from "./parameters.ts";
import { MAX_SHOWN_NAME, type Results, type Session } from "./results.ts";
import {
  agreedRevision,
  INITIALIZED_REVISIONS,
  OLDEST_REVISION,
  revisionIn,
  STATELESS_REVISION,
} from "./revisions.ts";
import { SERVER_INFO } from "./server_info.ts";
import type { SubscriptionOptions } from "./subscriptions.ts";
import type { ToolContext } from "./tool_call.ts";
import { selectionFor } from "./tool_sets.ts";
import { TOOLS_MARK } from "./tools_mark.ts";
import { ELICITATION, takeReply } from "./user_forms.ts";
import { withUser } from "./tool_call.ts";

const REVISION_HEADER = "MCP-Protocol-Version";
/** Most messages of one batch. */
const MAX_BATCH = 100;
/**
 * How long all waits of one batch may take together, in milliseconds; the limit of a single call is
 * the same.
 */
const MAX_BATCH_WAIT = 60_000;

/** A JSON-RPC answer. */
type Answer = object;

/** A JSON-RPC answer whose JSON text is known. */
class KnownAnswer {
  readonly text: string;

  /** @param result as JSON text */
  constructor(id: RequestId, result: string) {
    this.text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
  }

  /** For an answer within a batch. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** A session whose credential is checked again between the messages of a batch. */
interface CheckedSession extends Session {
  /** @throws Unauthorized if the caller's credential has ended meanwhile */
  readonly recheck: () => Promise<void>;
}

/**
 * Answers messages of the Model Context Protocol, each on its own: no request depends on an earlier
 * one. Clients of the stateless revision 2026-07-28 say so in every request; the library answers
 * them. All others get plain JSON, with or without `initialize`, in the revision that
 * `MCP-Protocol-Version` names, or in 2024-11-05 without that header. Their plain messages are
 * answered here. The library is loaded for anything else, and gives the same answers to plain
 * messages.
 */
export class Protocol {
  readonly #results: Results;
  readonly #scheduler: Scheduler;
  readonly #subscriptions: SubscriptionOptions | undefined;
  #library: Promise<Library> | null = null;

  /** @param subscriptions absent: nothing can be subscribed to */
  constructor(results: Results, scheduler: Scheduler, subscriptions?: SubscriptionOptions) {
    this.#results = results;
    this.#scheduler = scheduler;
    this.#subscriptions = subscriptions;
  }

  /** Whether a body is a plain call of a tool that is here and open to a principal. */
  suffices(body: unknown, principal: Principal): boolean {
    const message = leniently(body);
    return isPlainMessage(message) && isPlainRequest(message) && message.method === "tools/call" &&
      this.#results.has(message.params.name, principal);
  }

  /**
   * Answers the body of a request.
   *
   * @param body the parsed JSON
   * @param request its headers name the revision; its body has been read
   * @param recheck called between the messages of a batch
   * @throws what `recheck` throws; the rest of the batch is then skipped
   */
  async respond(
    body: unknown,
    request: Request,
    context: ToolContext,
    recheck: () => Promise<void>,
  ): Promise<Response> {
    const { headers } = request;
    const asked = headers.has(ELICITATION) ? takeReply(body) : null;
    const response = asked === null
      ? await this.#respond(body, request, context, recheck)
      : await this.#respond(asked.call, request, withUser(context, asked.reply), recheck);
    if (headers.has(TOOLS_MARK)) {
      response.headers.set(TOOLS_MARK, this.#results.toolsMark(context.caller.principal));
    }
    return response;
  }

  async #respond(
    body: unknown,
    request: Request,
    context: ToolContext,
    recheck: () => Promise<void>,
  ): Promise<Response> {
    const message = Array.isArray(body) ? body.map(leniently) : leniently(body);
    const fault = faultOfParams(message);
    if (fault !== null) return rpcError(200, RPC_ERROR.invalidParams, fault, idOf(message));
    const selection = selectionFor(request, context.caller.principal);
    if (typeof selection === "string") {
      return rpcError(400, RPC_ERROR.invalidRequest, selection, idOf(message));
    }
    const named = request.headers.get(REVISION_HEADER)?.trim() ?? OLDEST_REVISION;
    const isKnown = INITIALIZED_REVISIONS.includes(named);
    if (!isKnown || !isPlain(message)) {
      const library = await this.#load();
      const opens = library.isRequest(message) && message.method === "initialize" &&
        revisionIn(message) === null;
      if (!opens && !isKnown && named !== STATELESS_REVISION && revisionIn(message) === null) {
        return unknownRevision(named, message);
      }
      if (!opens && !await library.isLegacy(request, message)) {
        return await library.respond(message, request, { context, selection });
      }
    }
    const session = { context, recheck, revision: named, selection };
    if (Array.isArray(message)) return await this.#respondBatch(message, session);
    const answer = await this.#answer(message, session);
    if (answer instanceof KnownAnswer) return new Response(answer.text, { headers: JSON_TYPE });
    return answer === null ? accepted() : Response.json(answer);
  }

  /**
   * In turn, so that the messages of a batch arrive in order. Calls that wait for news let the next
   * ones start; together they have {@link MAX_BATCH_WAIT}.
   */
  async #respondBatch(messages: readonly unknown[], session: CheckedSession): Promise<Response> {
    const { context } = session;
    if (messages.length > MAX_BATCH) {
      return rpcError(400, RPC_ERROR.invalidRequest, `A batch holds at most ${MAX_BATCH} messages`);
    }
    if (!messages.some((message) => this.#mayWait(message, session))) {
      return await this.#answerAll(messages, session, context.signal);
    }
    const limit = new AbortController();
    const cancel = this.#scheduler.after(MAX_BATCH_WAIT, () => limit.abort());
    const signal = AbortSignal.any([context.signal, limit.signal]);
    try {
      const limited = { ...session, context: { caller: context.caller, signal } };
      return await this.#answerAll(messages, limited, context.signal);
    } finally {
      cancel();
    }
  }

  /** @param closed aborts when the client is gone; the rest is then skipped */
  async #answerAll(
    messages: readonly unknown[],
    session: CheckedSession,
    closed: AbortSignal,
  ): Promise<Response> {
    const pending: Promise<Answer | null>[] = [];
    for (const message of messages) {
      if (closed.aborted) break;
      if (pending.length > 0) await session.recheck();
      const answer = this.#answer(message, session);
      pending.push(answer);
      if (!this.#mayWait(message, session)) await answer;
      // Promise.all handles its failure; until then, it must not count as unhandled.
      else answer.catch(() => {});
    }
    const answers = (await Promise.all(pending)).filter((answer) => answer !== null);
    return answers.length === 0 ? accepted() : Response.json(answers);
  }

  /** Whether a message is a call that may wait for news. */
  #mayWait(message: unknown, session: Session): boolean {
    if (!isRecord(message) || message.method !== "tools/call" || !isRecord(message.params)) {
      return false;
    }
    const { name, arguments: input } = message.params;
    return this.#results.find(String(name), session)?.mayWait(input) ?? false;
  }

  /** The answer to a request; null for all other messages, which need none. */
  async #answer(message: unknown, session: Session): Promise<Answer | null> {
    const fault = isRecord(message) && "id" in message ? faultOfParams(message) : null;
    if (fault !== null) {
      const error = { code: RPC_ERROR.invalidParams, message: fault };
      return { jsonrpc: "2.0", id: idOf(message), error };
    }
    if (!isPlainMessage(message)) {
      const library = await this.#load();
      if (!library.isRequest(message)) return null;
      const revision = message.method === "initialize"
        ? agreedRevision(message.params)
        : session.revision;
      return await library.answer(message, { ...session, revision });
    }
    return isPlainRequest(message) ? await this.#answerPlain(message, session) : null;
  }

  async #answerPlain(message: PlainRequest, session: Session): Promise<Answer> {
    const { id } = message;
    switch (message.method) {
      case "ping":
        return resultOf(id, {});
      case "initialize":
        return resultOf(id, this.#initialize(message, session));
      case "tools/list":
        return new KnownAnswer(id, this.#results.listText(session));
      case "tools/call": {
        const { name, arguments: input = {} } = message.params;
        const tool = this.#results.find(name, session);
        if (tool !== null) return resultOf(id, await this.#results.call(tool, input, session));
        const refusal = this.#results.unknownTool(name, session);
        return { jsonrpc: "2.0", id, error: { code: RPC_ERROR.invalidParams, message: refusal } };
      }
    }
  }

  #initialize(message: PlainRequest & { readonly params?: unknown }, session: Session): object {
    const revision = agreedRevision(message.params);
    const instructions = this.#results.instructions({ ...session, revision });
    return {
      protocolVersion: revision,
      capabilities: this.#results.capabilities({ ...session, revision }),
      serverInfo: SERVER_INFO,
      ...(instructions === undefined ? {} : { instructions }),
    };
  }

  async #load(): Promise<Library> {
    this.#library ??= import("./library.ts").then(({ Library }) =>
      new Library(this.#results, this.#subscriptions)
    );
    return await this.#library;
  }
}

/** A plain request of a revision with `initialize`. */
type PlainRequest =
  & { readonly id: RequestId }
  & (
    | { readonly method: "initialize" | "ping" | "tools/list" }
    | {
      readonly method: "tools/call";
      readonly params: { readonly name: string; readonly arguments?: Record<string, unknown> };
    }
  );

/** A message without an id, which gets no answer. */
interface PlainNotification {
  readonly id?: never;
  readonly method: string;
}

type PlainMessage = PlainRequest | PlainNotification;

const MESSAGE_KEYS: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"]);

/** The parameters of each method answered here, except `_meta`. */
const PARAMS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["initialize", new Set(["protocolVersion", "capabilities", "clientInfo"])],
  ["ping", new Set<string>()],
  ["tools/list", new Set<string>()],
  ["tools/call", new Set(["name", "arguments"])],
]);

/** The prefix of `_meta` members with a meaning in the protocol. */
const RESERVED_PREFIX = /modelcontextprotocol|mcp/i;

/**
 * Whether a message, after leniency, is an unambiguous request or notification of its revision: it
 * has no parts of another revision, and nothing to refuse.
 */
function isPlainMessage(message: unknown): message is PlainMessage {
  if (!isRecord(message) || message.jsonrpc !== "2.0" || typeof message.method !== "string") {
    return false;
  }
  if (!hasOnly(message, MESSAGE_KEYS)) return false;
  const { method, params } = message;
  if (params !== undefined && !isRecord(params)) return false;
  if (params?._meta !== undefined && !isPlainMeta(params._meta)) return false;
  if (!("id" in message)) return true;
  return isRequestId(message.id) && hasPlainParams(method, params ?? {});
}

/** Whether a plain message is a request, which gets an answer. */
function isPlainRequest(message: PlainMessage): message is PlainRequest {
  return message.id !== undefined;
}

function hasPlainParams(method: string, params: Record<string, unknown>): boolean {
  const known = PARAMS.get(method);
  if (known === undefined) return false;
  for (const key in params) if (key !== "_meta" && !known.has(key)) return false;
  const { name, arguments: input } = params;
  if (method !== "tools/call") return true;
  if (typeof name !== "string") return false;
  return input === undefined || isRecord(input) && !Object.hasOwn(input, "__proto__");
}

/** Whether `_meta` has only a progress token, which is unused here. */
function isPlainMeta(meta: unknown): boolean {
  if (!isRecord(meta)) return false;
  for (const key in meta) if (RESERVED_PREFIX.test(key)) return false;
  const { progressToken } = meta;
  return progressToken === undefined || isRequestId(progressToken);
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || Number.isSafeInteger(id);
}

function hasOnly(record: Record<string, unknown>, keys: ReadonlySet<string>): boolean {
  for (const key in record) if (!keys.has(key)) return false;
  return true;
}

function resultOf(id: RequestId, result: object): Answer {
  return { jsonrpc: "2.0", id, result };
}

const JSON_TYPE = { "Content-Type": "application/json" };

/** Whether a body, after leniency, is a plain message or a batch of plain messages. */
function isPlain(message: unknown): message is PlainMessage | readonly PlainMessage[] {
  if (Array.isArray(message)) return message.length > 0 && message.every(isPlainMessage);
  return isPlainMessage(message);
}

/** What the library requires in an `initialize` beside the revision; nothing uses it. */
const CLIENT = Object.freeze({
  capabilities: {},
  clientInfo: { name: "unknown", version: "0" },
});

/** Removes harmless parts for which the library would refuse a client. */
function leniently(message: unknown): unknown {
  if (!isRecord(message)) return message;
  const { method } = message;
  if (method === "initialize" && revisionIn(message) === null) {
    const protocolVersion = agreedRevision(message.params);
    return { ...message, params: { ...CLIENT, protocolVersion } };
  }
  if (message.params === null) {
    const { params: _null, ...rest } = message;
    return rest;
  }
  const { params } = message;
  const takesArguments = method === "tools/call" || method === "prompts/get";
  if (!takesArguments || !isRecord(params) || params.arguments !== null) return message;
  const { arguments: _null, ...others } = params;
  return { ...message, params: others };
}

/** Refuses a request of an unknown revision, as the revisions require. */
function unknownRevision(revision: string, message: unknown): Response {
  const refusal = `The MCP-Protocol-Version "${revision.slice(0, MAX_SHOWN_NAME)}" is not known; ` +
    `this server speaks ${[...INITIALIZED_REVISIONS, STATELESS_REVISION].join(", ")}`;
  return rpcError(400, RPC_ERROR.server, refusal, idOf(message));
}

function idOf(message: unknown): RequestId | null {
  const id = isRecord(message) ? message.id : null;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/** The response to a notification: accepted, without content. */
function accepted(): Response {
  return new Response(null, { status: 202 });
}
