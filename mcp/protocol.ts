import type {
  CallToolResult,
  JSONRPCMessage,
  JSONRPCRequest,
  Server,
  Transport,
} from "@modelcontextprotocol/server";
import type { Log } from "../services/log.ts";
import type { Metrics } from "../services/metrics/mod.ts";
import type { Scheduler } from "../services/scheduler.ts";
import { RPC_ERROR, rpcError } from "./json_rpc.ts";
import { instructionsFor } from "./instructions.ts";
import { callTool, type Tool, type ToolContext } from "./tool.ts";
import { Toolbox } from "./toolbox.ts";

/** The protocol's official library, which is loaded late because that takes its time. */
export type Sdk = typeof import("@modelcontextprotocol/server");

/**
 * The revisions that a client may open with `initialize`. One that asks for none of them gets the
 * first.
 */
const INITIALIZED_REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const [OLDEST_REVISION = ""] = INITIALIZED_REVISIONS;
/** The first revision with structured results. */
const STRUCTURED_REVISION = "2025-06-18";
const STATELESS_REVISION = "2026-07-28";
const REVISION_HEADER = "MCP-Protocol-Version";
/** How much of a name that is not known an error repeats. */
const MAX_SHOWN_NAME = 100;
const SERVER_INFO = { name: "muster", version: "0.1" };
/** Most messages of one batch. */
const MAX_BATCH = 100;
/** How long all waits of one batch may take, in milliseconds; a single call may take as long. */
const MAX_BATCH_WAIT = 60_000;

/** The caller, and the revision of the protocol to answer with. */
interface Session {
  readonly context: ToolContext;
  readonly revision: string;
  /** @throws Unauthorized where the caller's credential has ended since */
  readonly recheck: () => Promise<void>;
}

/** What the protocol needs beside its tools. */
export interface ProtocolServices {
  readonly log: Log;
  readonly metrics: Pick<Metrics, "toolCalled">;
  readonly scheduler: Scheduler;
}

/**
 * Answers messages of the Model Context Protocol, each by itself: no request depends on one before.
 * Clients of the stateless revision 2026-07-28 say so in every request and are served by the
 * library as that revision says. All others are served in plain JSON, whether they opened with
 * `initialize` or not: as of the revision that `MCP-Protocol-Version` names, or of 2024-11-05
 * without that header.
 */
export class Protocol {
  readonly #sdk: Sdk;
  readonly #tools: Toolbox;
  readonly #log: Log;
  readonly #metrics: Pick<Metrics, "toolCalled">;
  readonly #scheduler: Scheduler;

  /** @param tools as {@link Toolbox} takes them */
  constructor(
    sdk: Sdk,
    tools: readonly Tool[],
    { log, metrics, scheduler }: ProtocolServices,
  ) {
    this.#sdk = sdk;
    this.#tools = new Toolbox(tools);
    this.#log = log;
    this.#metrics = metrics;
    this.#scheduler = scheduler;
  }

  /**
   * Answers the body of a request.
   *
   * @param body the parsed JSON
   * @param request its headers tell the revision; its body was read
   * @param recheck called between the messages of a batch
   * @throws what `recheck` throws; the rest of the batch is not begun then
   */
  async respond(
    body: unknown,
    request: Request,
    context: ToolContext,
    recheck: () => Promise<void>,
  ): Promise<Response> {
    const message = Array.isArray(body) ? body.map(leniently) : leniently(body);
    if (hasMalformedParams(message)) {
      return rpcError(200, RPC_ERROR.invalidParams, '"params" must be an object', idOf(message));
    }
    if (!this.#isInitialize(message) && !await this.#sdk.isLegacyRequest(request, message)) {
      return this.#respondStateless(message, request, { context, recheck });
    }
    const named = request.headers.get(REVISION_HEADER)?.trim() ?? OLDEST_REVISION;
    if (!this.#isInitialize(message) && !INITIALIZED_REVISIONS.includes(named)) {
      return unknownRevision(named);
    }
    const session = { context, recheck, revision: named };
    if (Array.isArray(message)) return this.#respondBatch(message, session);
    const answer = await this.#answer(message, session);
    return answer === null ? accepted() : Response.json(answer);
  }

  #isInitialize(message: unknown): boolean {
    return this.#sdk.isJSONRPCRequest(message) && message.method === "initialize";
  }

  /**
   * One after the other, so that what a batch sends arrives in its order. Calls that wait for news
   * let the next ones begin, and all of them together have {@link MAX_BATCH_WAIT}.
   */
  async #respondBatch(messages: readonly unknown[], session: Session): Promise<Response> {
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

  /** @param closed aborts when the client has gone: nothing more is begun then */
  async #answerAll(
    messages: readonly unknown[],
    session: Session,
    closed: AbortSignal,
  ): Promise<Response> {
    const pending: Promise<JSONRPCMessage | null>[] = [];
    for (const message of messages) {
      if (closed.aborted) break;
      if (pending.length > 0) await session.recheck();
      const answer = this.#answer(message, session);
      pending.push(answer);
      if (!this.#mayWait(message, session)) await answer;
      // Promise.all takes its failure; until then it must not count as one that nobody handles.
      else answer.catch(() => {});
    }
    const answers = (await Promise.all(pending)).filter((answer) => answer !== null);
    return answers.length === 0 ? accepted() : Response.json(answers);
  }

  /** Whether a message is a call that may wait for news. */
  #mayWait(message: unknown, { context }: Session): boolean {
    if (!this.#sdk.isJSONRPCRequest(message) || message.method !== "tools/call") return false;
    const { name, arguments: input } = message.params ?? {};
    return this.#tools.find(String(name), context.caller.principal)?.mayWait(input) ?? false;
  }

  /** The answer to a request; null for anything else, which needs none. */
  async #answer(message: unknown, session: Session): Promise<JSONRPCMessage | null> {
    if (!this.#sdk.isJSONRPCRequest(message)) return null;
    const revision = message.method === "initialize"
      ? agreedRevision(message.params)
      : session.revision;
    const exchange = new Exchange();
    await this.#newServer({ ...session, revision }).connect(exchange);
    return await exchange.ask(message);
  }

  #respondStateless(
    body: unknown,
    request: Request,
    caller: Pick<Session, "context" | "recheck">,
  ): Promise<Response> {
    if (this.#sdk.isJSONRPCRequest(body) && body.method === "subscriptions/listen") {
      const message = "Nothing here can be subscribed to";
      return Promise.resolve(rpcError(404, RPC_ERROR.methodNotFound, message, body.id));
    }
    const headers = new Headers(request.headers);
    headers.set("content-type", "application/json");
    const session = { ...caller, revision: STATELESS_REVISION };
    const { fetch } = this.#sdk.createMcpHandler(() => this.#newServer(session), {
      legacy: "reject",
    });
    const { url, method } = request;
    return fetch(new Request(url, { method, headers }), { parsedBody: body });
  }

  async #call(
    tool: Tool,
    input: Record<string, unknown>,
    { context, revision }: Session,
  ): Promise<CallToolResult> {
    const started = performance.now();
    const result = await callTool(tool, input, context, this.#log);
    const seconds = (performance.now() - started) / 1000;
    this.#metrics.toolCalled(tool.name, result.isError === true ? "error" : "ok", seconds);
    if (knowsStructure(revision)) return result;
    const { structuredContent: _unknown, ...plain } = result;
    return plain;
  }

  /** A server for one request; it costs some microseconds, and so no two callers share one. */
  #newServer(session: Session): Server {
    const { context: { caller: { principal } }, revision } = session;
    const server = new this.#sdk.Server(SERVER_INFO, {
      capabilities: { tools: {} },
      supportedProtocolVersions: INITIALIZED_REVISIONS,
      // The contract shows what the oldest revision's clients are sent, and this is not among it.
      ...(revision === OLDEST_REVISION ? {} : { instructions: instructionsFor(principal) }),
    });
    server.setRequestHandler("tools/list", () => ({
      tools: this.#tools.openTo(principal).map(({ listing, outputSchema }) =>
        knowsStructure(revision) ? { ...listing, outputSchema } : listing
      ),
    }));
    server.setRequestHandler("tools/call", ({ params }) => {
      const tool = this.#tools.find(params.name, principal);
      if (tool !== null) return this.#call(tool, params.arguments ?? {}, session);
      throw new this.#sdk.ProtocolError(
        this.#sdk.ProtocolErrorCode.InvalidParams,
        `There is no tool "${params.name.slice(0, MAX_SHOWN_NAME)}"; tools/list names all`,
      );
    });
    return server;
  }
}

/** Carries one request to a server and its answer back. */
class Exchange implements Transport {
  onmessage?: Transport["onmessage"];
  readonly #answer = Promise.withResolvers<JSONRPCMessage>();

  start(): Promise<void> {
    return Promise.resolve();
  }

  ask(request: JSONRPCRequest): Promise<JSONRPCMessage> {
    this.onmessage?.(request);
    return this.#answer.promise;
  }

  /** A server also sends what is no answer, such as progress; nobody listens to that here. */
  send(message: JSONRPCMessage): Promise<void> {
    if (!("method" in message)) this.#answer.resolve(message);
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** What the library wants to find in an `initialize` beside the revision; nothing depends on it. */
const CLIENT = Object.freeze({
  capabilities: {},
  clientInfo: { name: "unknown", version: "0" },
});

/** Takes away what the library would refuse a client for though it does no harm. */
function leniently(message: unknown): unknown {
  if (!isRecord(message)) return message;
  const { method, params, ...rest } = message;
  if (method === "initialize") {
    return { ...message, params: { ...CLIENT, protocolVersion: agreedRevision(params) } };
  }
  if (params === null) return { ...rest, method };
  if (method !== "tools/call" || !isRecord(params) || params.arguments !== null) return message;
  const { arguments: _null, ...others } = params;
  return { ...message, params: others };
}

/** The revision that a client of these params of `initialize` is served as. */
function agreedRevision(params: unknown): string {
  const asked = isRecord(params) ? params.protocolVersion : undefined;
  return INITIALIZED_REVISIONS.find((revision) => revision === asked) ?? OLDEST_REVISION;
}

/** Whether a revision, which is a date, has structured results and their schemas. */
function knowsStructure(revision: string): boolean {
  return revision >= STRUCTURED_REVISION;
}

/** Refuses a request of a revision that this server does not know, as the revisions require. */
function unknownRevision(revision: string): Response {
  const message = `The MCP-Protocol-Version "${revision.slice(0, MAX_SHOWN_NAME)}" is not known; ` +
    `this server speaks ${[...INITIALIZED_REVISIONS, STATELESS_REVISION].join(", ")}`;
  return rpcError(400, RPC_ERROR.server, message);
}

function hasMalformedParams(message: unknown): message is Record<string, unknown> {
  return isRecord(message) && typeof message.method === "string" &&
    message.params !== undefined && !isRecord(message.params);
}

function idOf({ id }: Record<string, unknown>): string | number | null {
  return typeof id === "string" || typeof id === "number" ? id : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a notification gets: it is taken, and there is nothing to say. */
function accepted(): Response {
  return new Response(null, { status: 202 });
}
