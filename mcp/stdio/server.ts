import { Invalid } from "../../services/kernel/errors.ts";
import { requireBounded } from "../../services/kernel/validation/mod.ts";
import { isRecord, type RequestId, RPC_ERROR, type RpcErrorCode } from "../json_rpc.ts";
import { NAMING_PARAMETERS } from "../parameters.ts";
import { revisionIn } from "../revisions.ts";
import { TOOLS_ASKED } from "../tool_sets.ts";
import { ELICITATION } from "../user_forms.ts";
import { Absence } from "./absence.ts";
import { NotDelivered, type OutgoingMessage, ServerAway } from "./delivery.ts";
import { type Memory, RememberedAnswers } from "./remembered_answers.ts";
import { opensStream, Streams } from "./streams.ts";
import { ToolsWatch } from "./tools_watch.ts";
import { losesForms, type ShownForm, UserQuestions } from "./user_questions.ts";

/** Most messages that are answered at the same time; the next ones wait for their turn. */
const MAX_ANSWERED = 64;

/** Most messages that are answered or wait; then the next line is not read. */
const MAX_PENDING = 256;

/** How often to look for a change of the client's tools, in milliseconds. */
const WATCH_INTERVAL = 60_000;

/** How long calls may take after the input has ended, in milliseconds. */
const LAST_ANSWERS = 15_000;

/** What the server of standard input and output is connected with. */
export interface StdioOptions {
  readonly input: AsyncIterable<Uint8Array>;
  /** Writes a line; throws if nobody reads any more. */
  readonly write: (line: string) => Promise<void>;
  /**
   * Delivers a message to `/mcp`, of a running server or of this process.
   *
   * @throws NotDelivered
   */
  readonly deliver: (message: OutgoingMessage) => Promise<Response>;
  /** The sets of tools that the client lists, with commas between them; absent: what the server chooses. */
  readonly tools?: string | undefined;
  /** Keeps what the server answers to a client that starts. */
  readonly memory: Memory;
  /** Tells a person what is wrong, and what to do about it. */
  readonly warn: (text: string) => void;
  /**
   * How often to look for a change of the client's tools while it calls none, in milliseconds; a
   * minute if absent.
   */
  readonly watchInterval?: number;
}

/** What an answer goes to: the requests of a message, until they are cancelled. */
interface Answered {
  readonly ids: readonly RequestId[];
  readonly signal: AbortSignal;
}

/** A request that is being answered. */
interface Pending {
  readonly ids: readonly RequestId[];
  readonly cancel: AbortController;
}

/**
 * Answers MCP on standard input and output: a message per line, each delivered as a request of HTTP.
 * Ends with its input. Every request gets an answer, and a failed delivery is an answer too.
 *
 * @throws what `write` throws
 */
export async function serveStdio(options: StdioOptions): Promise<void> {
  await new StdioServer(options).serve();
}

class StdioServer {
  readonly #options: StdioOptions;
  readonly #pending = new Map<Promise<void>, Pending>();
  readonly #tools = new ToolsWatch();
  readonly #user = new UserQuestions((message) => this.#write(message));
  readonly #remembered: RememberedAnswers;
  readonly #streams: Streams;
  readonly #absence = new Absence(() => this.#look());
  /** Aborts at the end. */
  readonly #ended = new AbortController();
  /** The last warning, until a message is delivered. */
  #warning: string | null = null;
  /** The revision that `initialize` agreed on. */
  #revision: string | null = null;
  #failure: { readonly error: unknown } | null = null;
  #answered = 0;
  /** Begins the answers that wait for their turn. */
  readonly #turns: (() => void)[] = [];
  /** The last line; the next one waits for it. */
  #written: Promise<void> = Promise.resolve();

  constructor(options: StdioOptions) {
    this.#options = options;
    this.#remembered = new RememberedAnswers(options.memory);
    this.#streams = new Streams({
      deliver: (message, signal) => this.#openStream(message, signal),
      write: (message) => this.#write(message),
      ended: this.#ended.signal,
    });
  }

  async serve(): Promise<void> {
    const watch = setInterval(() => this.#watch(), this.#options.watchInterval ?? WATCH_INTERVAL);
    try {
      await this.#serve();
    } finally {
      clearInterval(watch);
      this.#ended.abort();
      this.#absence.end();
    }
  }

  /** Looks for a change of the tools, unless a call or a look for the server brings it anyway. */
  #watch(): void {
    if (!this.#tools.isDeclared || this.#pending.size > 0 || this.#absence.reason !== null) return;
    void this.#absence.look();
  }

  /** Asks the server for nothing but the mark of the tools. Tells the client if they have changed. */
  async #look(): Promise<void> {
    const ping = { jsonrpc: "2.0", method: "notifications/initialized" };
    const headers = headersFor(ping, this.#revision);
    this.#tools.ask(headers);
    const { signal } = this.#ended;
    try {
      const response = await this.#send({
        headers,
        body: JSON.stringify(ping),
        signal,
        waits: false,
        isBrief: true,
      });
      await response.body?.cancel();
      const change = this.#tools.changeIn(response);
      if (change !== null) await this.#write(change);
    } catch (error) {
      if (error instanceof NotDelivered) return this.#warn(error);
      if (!signal.aborted) this.#failure ??= { error };
    }
  }

  /** Delivers a message, and notes whether the server is there. */
  async #send(message: OutgoingMessage): Promise<Response> {
    try {
      const response = await this.#options.deliver(message);
      this.#absence.end();
      this.#warning = null;
      return response;
    } catch (error) {
      if (message.signal.aborted) throw error;
      if (error instanceof ServerAway) this.#absence.begin(error);
      else this.#absence.end();
      throw error;
    }
  }

  async #openStream(message: unknown, signal: AbortSignal): Promise<Response> {
    const headers = headersFor(message, this.#revision);
    headers.set("accept", WITH_STREAMS);
    const body = JSON.stringify(message);
    return await this.#send({ headers, body, signal, waits: true, isBrief: false });
  }

  #warn({ remedy }: NotDelivered): void {
    if (remedy === this.#warning) return;
    this.#warning = remedy;
    this.#options.warn(remedy);
  }

  async #serve(): Promise<void> {
    for await (const line of readLines(this.#options.input)) {
      await this.#accept(line);
      while (this.#pending.size >= MAX_PENDING) await Promise.race(this.#pending.keys());
      if (this.#failure !== null) throw this.#failure.error;
    }
    const timer = setTimeout(() => {
      for (const { cancel } of this.#pending.values()) cancel.abort();
    }, LAST_ANSWERS);
    await Promise.all(this.#pending.keys());
    clearTimeout(timer);
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #accept(line: string | typeof TOO_LONG): Promise<void> {
    if (line === TOO_LONG) {
      return await this.#refuse([], RPC_ERROR.invalidRequest, "The message is longer than 16 MiB");
    }
    let message: unknown;
    try {
      requireBounded(line);
      message = JSON.parse(line);
    } catch (error) {
      const reason = error instanceof Invalid ? error.message : "The line is not valid JSON";
      return await this.#refuse([], RPC_ERROR.parse, reason);
    }
    const cancelled = cancelledBy(message);
    if (cancelled !== null) return this.#cancel(cancelled);
    if (opensStream(message)) return void this.#run(this.#streams.open(message));
    const subscribed = this.#streams.resources(message);
    if (subscribed !== null) {
      const { id, answer } = subscribed;
      return await this.#write({ jsonrpc: "2.0", id, ...answer });
    }
    if (this.#user.takes(message)) return;
    const opens = isRecord(message) && message.method === "initialize";
    if (opens) this.#user.opened(message);
    const answered = this.#answer(line, message, opens);
    // What follows is in the revision that the answer names.
    if (opens) await answered;
  }

  /** Notes a failure of what nobody waits for. */
  #run(work: Promise<void>): void {
    work.catch((error) => this.#failure ??= { error });
  }

  #cancel(id: RequestId): void {
    this.#streams.cancel(id);
    for (const { ids, cancel } of this.#pending.values()) {
      if (ids.length === 1 && ids[0] === id) cancel.abort();
    }
  }

  #answer(line: string, message: unknown, opens: boolean): Promise<void> {
    const cancel = new AbortController();
    const pending = { ids: idsOf(message), cancel };
    const request = { ids: pending.ids, signal: cancel.signal };
    const exchange = async () => void await this.#exchange(line, message, request, opens);
    const answered = this.#inTurn(exchange, cancel.signal).catch((error) => {
      this.#failure ??= { error };
    }).finally(() => this.#pending.delete(answered));
    this.#pending.set(answered, pending);
    return answered;
  }

  /** Runs an exchange when fewer than {@link MAX_ANSWERED} run, unless it is cancelled before. */
  async #inTurn(exchange: () => Promise<void>, cancelled: AbortSignal): Promise<void> {
    if (this.#answered < MAX_ANSWERED) this.#answered++;
    else await new Promise<void>((resolve) => this.#turns.push(resolve));
    try {
      if (!cancelled.aborted) await exchange();
    } finally {
      const next = this.#turns.shift();
      if (next === undefined) this.#answered--;
      else next();
    }
  }

  /** Returns whether there is nothing more to say to the client; not if it is cancelled before. */
  async #exchange(
    line: string,
    message: unknown,
    request: Answered,
    opens: boolean,
  ): Promise<boolean> {
    const { ids, signal } = request;
    if (losesForms(message)) {
      await this.#refuse(ids, RPC_ERROR.methodNotFound, "Use initialize: its forms can be closed");
      return true;
    }
    let text: string;
    let status: number;
    let change: object | null;
    const headers = headersFor(message, opens ? null : this.#revision);
    if (this.#options.tools !== undefined) headers.set(TOOLS_ASKED, this.#options.tools);
    this.#tools.ask(headers);
    this.#user.offer(headers, message, this.#revision);
    try {
      const response = await this.#deliver(message, { headers, body: line, signal });
      status = response.status;
      change = this.#tools.changeIn(response);
      text = await response.text();
    } catch (error) {
      if (signal.aborted) return false;
      await this.#answerAlone(error, message, ids);
      return true;
    }
    // Who cancelled a request expects no answer to it.
    if (signal.aborted) return false;
    const form = headers.has(ELICITATION)
      ? await this.#user.show(message, answerIn(text, ids))
      : null;
    if (form !== null) {
      if (change !== null) await this.#write(change);
      return await this.#askUser(form, request);
    }
    if (ids.length > 0 || status >= 300) await this.#pass(text, status, message, ids);
    if (change !== null) await this.#write(change);
    return true;
  }

  /** Answers a call when the user has filled in a form, or somebody else was first. */
  async #askUser(form: ShownForm, { ids, signal }: Answered): Promise<boolean> {
    const accepted = new AbortController();
    const call = form.accepted.then((call) => {
      accepted.abort();
      return call;
    });
    const either = AbortSignal.any([signal, accepted.signal]);
    const again = (call: object, signal: AbortSignal) =>
      this.#exchange(JSON.stringify(call), call, { ids, signal }, false);
    if (!await again(form.waiting, either) && !signal.aborted) {
      return await again(await call, signal);
    }
    await form.close();
    return !signal.aborted;
  }

  /**
   * Delivers a message of the client. A server that may just start again is waited for; one that is
   * away for longer is looked for once. Neither if there is an answer without it.
   */
  async #deliver(
    message: unknown,
    outgoing: Omit<OutgoingMessage, "waits" | "isBrief">,
  ): Promise<Response> {
    const isBrief = this.#remembered.resultOf(message, this.#revision) !== null;
    const { reason } = this.#absence;
    if (reason === null) {
      const waits = !this.#remembered.has(message, this.#revision);
      return await this.#send({ ...outgoing, waits, isBrief });
    }
    if (isBrief) throw reason;
    if (this.#absence.isNew) return await this.#send({ ...outgoing, waits: true, isBrief });
    await this.#absence.look();
    if (this.#absence.reason !== null) throw this.#absence.reason;
    return await this.#send({ ...outgoing, waits: false, isBrief });
  }

  /** Answers a message that was not delivered. */
  async #answerAlone(error: unknown, message: unknown, ids: readonly RequestId[]): Promise<void> {
    if (!(error instanceof NotDelivered)) {
      const reason = error instanceof Error ? error.message : String(error);
      return await this.#refuse(ids, RPC_ERROR.internal, reason);
    }
    this.#warn(error);
    const result = isCall(message)
      ? failedCall(message, error.message)
      : error instanceof ServerAway
      ? this.#remembered.resultOf(message, this.#revision)
      : null;
    const [id] = ids;
    if (result === null || id === undefined) {
      return await this.#refuse(ids, error.code, error.message);
    }
    if (isRecord(message) && message.method === "tools/list") this.#tools.guess();
    await this.#open({ jsonrpc: "2.0", id, result }, message);
  }

  /** Writes the answer of the server. */
  async #pass(
    text: string,
    status: number,
    message: unknown,
    ids: readonly RequestId[],
  ): Promise<void> {
    const answer = answerIn(text, ids);
    if (answer === null) {
      const reason = `The server answered ${status} in place of JSON-RPC: is it muster?`;
      return await this.#refuse(ids, RPC_ERROR.server, reason);
    }
    this.#remembered.keep(message, this.#revision, answer);
    if (ids.length > 0) await this.#open(answer, message);
  }

  /** Writes an answer; that to `initialize` names the revision of what follows. */
  async #open(answer: unknown, message: unknown): Promise<void> {
    if (!isRecord(message) || message.method !== "initialize") return await this.#write(answer);
    this.#revision = agreedIn(answer) ?? this.#revision;
    await this.#write(this.#tools.declare(answer, this.#revision));
  }

  /** Answers every request of a message with an error; a notification gets none. */
  async #refuse(ids: readonly RequestId[], code: RpcErrorCode, message: string): Promise<void> {
    const isUnreadable = code === RPC_ERROR.parse || code === RPC_ERROR.invalidRequest;
    for (const id of ids.length === 0 && isUnreadable ? [null] : ids) {
      await this.#write({ jsonrpc: "2.0", id, error: { code, message } });
    }
  }

  #write(answer: unknown): Promise<void> {
    const line = JSON.stringify(answer);
    return this.#written = this.#written.then(() => this.#options.write(line));
  }
}

const WITH_STREAMS = "application/json, text/event-stream";

function isDiscovery(message: unknown): boolean {
  return isRecord(message) && message.method === "server/discover";
}

function isCall(message: unknown): boolean {
  return isRecord(message) && message.method === "tools/call";
}

/** A failure that the client shows to its model: errors of the protocol may end the model's run. */
function failedCall(message: unknown, text: string): object {
  const result = { content: [{ type: "text", text }], isError: true };
  return revisionIn(message) === null ? result : { resultType: "complete", ...result };
}

/** The ids of the requests in a message or a batch. */
function idsOf(message: unknown): RequestId[] {
  return (Array.isArray(message) ? message : [message]).flatMap((part) =>
    isRecord(part) && "method" in part &&
      (typeof part.id === "string" || typeof part.id === "number")
      ? [part.id]
      : []
  );
}

/** The request that a message cancels; null if it is no such message. */
function cancelledBy(message: unknown): RequestId | null {
  if (!isRecord(message) || message.method !== "notifications/cancelled") return null;
  const id = isRecord(message.params) ? message.params.requestId : undefined;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/**
 * The JSON-RPC answer in a text, null if there is none. A refusal before the message was read has no
 * id; it gets the request's.
 */
function answerIn(text: string, ids: readonly RequestId[]): unknown {
  try {
    const answer: unknown = JSON.parse(text);
    if (Array.isArray(answer)) return answer;
    if (!isRecord(answer) || answer.jsonrpc !== "2.0") return null;
    return answer.id === null && ids.length > 0 ? { ...answer, id: ids[0] } : answer;
  } catch {
    return null;
  }
}

/** The revision in the answer to `initialize`. */
function agreedIn(answer: unknown): string | null {
  const result = isRecord(answer) ? answer.result : undefined;
  const revision = isRecord(result) ? result.protocolVersion : undefined;
  return typeof revision === "string" ? revision : null;
}

/**
 * The headers of a message. Those of the stateless revision repeat what the message says, and others
 * name the revision that `initialize` agreed on.
 *
 * @param agreed null before `initialize`
 */
function headersFor(message: unknown, agreed: string | null): Headers {
  const headers = new Headers({
    // Not a stream: its answers come whole. What a server offers depends on whether there may be some.
    "accept": isDiscovery(message) ? WITH_STREAMS : "application/json",
    "content-type": "application/json",
  });
  const own = revisionIn(message);
  const revision = own ?? agreed;
  if (revision !== null) headers.set("MCP-Protocol-Version", encoded(revision));
  if (own === null || !isRecord(message)) return headers;
  const { method, params } = message;
  if (typeof method === "string") headers.set("Mcp-Method", encoded(method));
  const name = isRecord(params) ? params[NAMING_PARAMETERS.get(method) ?? ""] : undefined;
  if (typeof name === "string") headers.set("Mcp-Name", encoded(name));
  return headers;
}

/** A value as a header may hold it: other than plain ASCII in Base64, as the revision says. */
function encoded(value: string): string {
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith("=?base64?")) {
    return value;
  }
  const bytes = new TextEncoder().encode(value);
  return `=?base64?${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}?=`;
}

/** Longest message, in bytes. */
const MAX_LINE = 16 * 2 ** 20;

/** A line that is longer than a message may be; its content is lost. */
const TOO_LONG = Symbol("a line that is too long");

/** Splits bytes into lines; a last line needs no end. Empty lines are left out. */
async function* readLines(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<string | typeof TOO_LONG> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of source) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const line = finish([...parts, chunk.subarray(start, end)], length + end - start);
      if (line !== "") yield line;
      parts = [];
      length = 0;
      start = end + 1;
    }
    length += chunk.length - start;
    if (length > MAX_LINE) parts = [];
    else parts.push(chunk.slice(start));
  }
  const line = finish(parts, length);
  if (line !== "") yield line;
}

function finish(parts: readonly Uint8Array[], length: number): string | typeof TOO_LONG {
  if (length > MAX_LINE) return TOO_LONG;
  const bytes = new Uint8Array(length);
  let position = 0;
  for (const part of parts) {
    bytes.set(part, position);
    position += part.length;
  }
  return new TextDecoder().decode(bytes).trim();
}
