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
import { callTool, type Tool, type ToolContext } from "./tool.ts";

/** The protocol's official library, which is loaded late because that takes its time. */
export type Sdk = typeof import("@modelcontextprotocol/server");

/** The revision that every client is told that opens with `initialize`. */
const INITIALIZED_REVISION = "2024-11-05";
const SERVER_INFO = { name: "muster", version: "0.1" };
/** Most messages of one batch. */
const MAX_BATCH = 100;
/** How long all waits of one batch may take, in milliseconds; a single call may take as long. */
const MAX_BATCH_WAIT = 60_000;

/** What the protocol needs beside its tools. */
export interface ProtocolServices {
  readonly log: Log;
  readonly metrics: Pick<Metrics, "toolCalled">;
  readonly scheduler: Scheduler;
}

/**
 * Answers messages of the Model Context Protocol, each by itself: no request depends on one before.
 * Clients of the stateless revision 2026-07-28 say so in every request and are served by the
 * library as that revision says. All others are served as of revision 2024-11-05, in plain JSON,
 * whatever headers they sent and whether they opened with `initialize` or not.
 */
export class Protocol {
  readonly #sdk: Sdk;
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #log: Log;
  readonly #metrics: Pick<Metrics, "toolCalled">;
  readonly #scheduler: Scheduler;

  /** @param tools in the order in which they are listed */
  constructor(
    sdk: Sdk,
    tools: readonly Tool[],
    { log, metrics, scheduler }: ProtocolServices,
  ) {
    this.#sdk = sdk;
    this.#tools = new Map(tools.map((tool) => [tool.listing.name, tool]));
    this.#log = log;
    this.#metrics = metrics;
    this.#scheduler = scheduler;
  }

  /**
   * Answers the body of a request.
   *
   * @param body the parsed JSON
   * @param request its headers tell the revision; its body was read
   */
  async respond(body: unknown, request: Request, context: ToolContext): Promise<Response> {
    const message = Array.isArray(body) ? body.map(leniently) : leniently(body);
    if (hasMalformedParams(message)) {
      return rpcError(200, RPC_ERROR.invalidParams, '"params" must be an object', idOf(message));
    }
    if (!this.#isInitialize(message) && !await this.#sdk.isLegacyRequest(request, message)) {
      return this.#respondStateless(message, request, context);
    }
    if (Array.isArray(message)) return this.#respondBatch(message, context);
    const answer = await this.#answer(message, context);
    return answer === null ? accepted() : Response.json(answer);
  }

  #isInitialize(message: unknown): boolean {
    return this.#sdk.isJSONRPCRequest(message) && message.method === "initialize";
  }

  /**
   * One after the other, so that what a batch sends arrives in its order. Calls that wait for news
   * let the next ones begin, and all of them together have {@link MAX_BATCH_WAIT}.
   */
  async #respondBatch(messages: readonly unknown[], context: ToolContext): Promise<Response> {
    if (messages.length > MAX_BATCH) {
      return rpcError(400, RPC_ERROR.invalidRequest, `A batch holds at most ${MAX_BATCH} messages`);
    }
    if (!messages.some((message) => this.#mayWait(message))) {
      return await this.#answerAll(messages, context, context.signal);
    }
    const limit = new AbortController();
    const cancel = this.#scheduler.after(MAX_BATCH_WAIT, () => limit.abort());
    const signal = AbortSignal.any([context.signal, limit.signal]);
    try {
      const { caller } = context;
      return await this.#answerAll(messages, { caller, signal }, context.signal);
    } finally {
      cancel();
    }
  }

  /** @param closed aborts when the client has gone: nothing more is begun then */
  async #answerAll(
    messages: readonly unknown[],
    context: ToolContext,
    closed: AbortSignal,
  ): Promise<Response> {
    const pending: Promise<JSONRPCMessage | null>[] = [];
    for (const message of messages) {
      if (closed.aborted) break;
      const answer = this.#answer(message, context);
      pending.push(answer);
      if (!this.#mayWait(message)) await answer;
      // Promise.all takes its failure; until then it must not count as one that nobody handles.
      else answer.catch(() => {});
    }
    const answers = (await Promise.all(pending)).filter((answer) => answer !== null);
    return answers.length === 0 ? accepted() : Response.json(answers);
  }

  /** Whether a message is a call that may wait for news. */
  #mayWait(message: unknown): boolean {
    if (!this.#sdk.isJSONRPCRequest(message) || message.method !== "tools/call") return false;
    const { name, arguments: input } = message.params ?? {};
    return this.#tools.get(String(name))?.mayWait(input) ?? false;
  }

  /** The answer to a request; null for anything else, which needs none. */
  async #answer(message: unknown, context: ToolContext): Promise<JSONRPCMessage | null> {
    if (!this.#sdk.isJSONRPCRequest(message)) return null;
    const exchange = new Exchange();
    await this.#newServer(context).connect(exchange);
    return await exchange.ask(message);
  }

  #respondStateless(body: unknown, request: Request, context: ToolContext): Promise<Response> {
    if (this.#sdk.isJSONRPCRequest(body) && body.method === "subscriptions/listen") {
      const message = "Nothing here can be subscribed to";
      return Promise.resolve(rpcError(404, RPC_ERROR.methodNotFound, message, body.id));
    }
    const headers = new Headers(request.headers);
    headers.set("content-type", "application/json");
    const { fetch } = this.#sdk.createMcpHandler(() => this.#newServer(context), {
      legacy: "reject",
    });
    const { url, method } = request;
    return fetch(new Request(url, { method, headers }), { parsedBody: body });
  }

  async #call(tool: Tool, input: unknown, context: ToolContext): Promise<CallToolResult> {
    const started = performance.now();
    const result = await callTool(tool, input, context, this.#log);
    const seconds = (performance.now() - started) / 1000;
    this.#metrics.toolCalled(tool.listing.name, result.isError === true ? "error" : "ok", seconds);
    return result;
  }

  /** A server for one request; it costs some microseconds, and so no two callers share one. */
  #newServer(context: ToolContext): Server {
    const server = new this.#sdk.Server(SERVER_INFO, {
      capabilities: { tools: {} },
      supportedProtocolVersions: [INITIALIZED_REVISION],
    });
    server.setRequestHandler("tools/list", () => ({
      tools: [...this.#tools.values()].map(({ listing }) => listing),
    }));
    server.setRequestHandler("tools/call", ({ params }) => {
      const tool = this.#tools.get(params.name);
      if (tool !== undefined) return this.#call(tool, params.arguments ?? {}, context);
      throw new this.#sdk.ProtocolError(
        this.#sdk.ProtocolErrorCode.InvalidParams,
        `There is no tool "${params.name}"`,
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

/** What the library wants to find in an `initialize`; none of it changes the answer. */
const INITIALIZE_PARAMS = Object.freeze({
  protocolVersion: INITIALIZED_REVISION,
  capabilities: {},
  clientInfo: { name: "unknown", version: "0" },
});

/** Takes away what the library would refuse a client for though it does no harm. */
function leniently(message: unknown): unknown {
  if (!isRecord(message)) return message;
  if (message.method === "initialize") return { ...message, params: INITIALIZE_PARAMS };
  if (message.params !== null) return message;
  const { params: _null, ...rest } = message;
  return rest;
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
