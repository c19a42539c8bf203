/** The protocol in its official library. Imported on demand, because the import is slow. */

import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  isJSONRPCRequest,
  isLegacyRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type McpHttpHandler,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Transport,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { explain } from "./advice.ts";
import type { Data } from "./budget.ts";
import { wantsEventStream } from "../http/mod.ts";
import { EventStreams } from "../routes/event_streams.ts";
import { EVENTS, Events } from "./events.ts";
import { isRecord, RPC_ERROR, rpcError } from "./json_rpc.ts";
import type { Results, Session } from "./results.ts";
import { INITIALIZED_REVISIONS, STATELESS_REVISION } from "./revisions.ts";
import { SERVER_INFO } from "./server_info.ts";
import { getSkill, isOfSkill, listSkills, readSkill, SKILLS } from "./skills.ts";
import { type SubscriptionOptions, Subscriptions } from "./subscriptions.ts";
import { followsTasks, TASKS } from "./tasks.ts";
import { USE_TOOL } from "./unlisted_calls.ts";

/** What a client lacks that asks for tasks without declaring the extension. */
const NEEDS_TASKS = { requiredCapabilities: { extensions: { [TASKS]: {} } } };

/** Skills are the same for every caller until the server is another; an hour is soon enough. */
const UNCHANGING = { ttlMs: 3_600_000, cacheScope: "public" } as const;

/** A session, and whether its client takes a stream in place of an answer. */
interface Served extends Session {
  readonly streams: boolean;
}

/** Answers messages that are not plain, and clients of the stateless revision. */
export class Library {
  readonly #results: Results;
  readonly #stateless: McpHttpHandler;
  readonly #subscriptions: Subscriptions | null = null;
  readonly #events: Events | null = null;
  /** The caller, by the request that the library received. */
  readonly #sessions = new WeakMap<Request, Served>();

  /** @param subscriptions absent: nothing can be subscribed to */
  constructor(results: Results, subscriptions?: SubscriptionOptions) {
    this.#results = results;
    if (subscriptions !== undefined) {
      const { services, metrics } = subscriptions;
      const { config, identity, scheduler, draining } = services;
      const { streams: max } = config.limits;
      const streams = new EventStreams({ max, identity, scheduler, metrics, draining });
      this.#subscriptions = new Subscriptions(services, streams);
      this.#events = new Events(services, streams);
    }
    this.#stateless = createMcpHandler(({ requestInfo }) => {
      const session = requestInfo === undefined ? undefined : this.#sessions.get(requestInfo);
      if (session === undefined) throw new Error("The library serves a request of its own");
      return this.#newServer(session);
    }, { legacy: "reject" });
  }

  isRequest(message: unknown): message is JSONRPCRequest {
    return isJSONRPCRequest(message);
  }

  /** Whether a request is of a revision with `initialize`. */
  isLegacy(request: Request, message: unknown): Promise<boolean> {
    return isLegacyRequest(request, message);
  }

  /** Answers a request of a revision with `initialize`. */
  async answer(message: JSONRPCRequest, session: Session): Promise<JSONRPCMessage> {
    const exchange = new Exchange();
    await this.#newServer({ ...session, streams: false }).connect(exchange);
    return await exchange.ask(message);
  }

  /** Answers a message of the stateless revision, or refuses one without a revision. */
  respond(
    body: unknown,
    { url, method, headers }: Request,
    { context, selection }: Pick<Session, "context" | "selection">,
  ): Promise<Response> {
    const streams = wantsEventStream(headers.get("accept"));
    const session = { context, revision: STATELESS_REVISION, selection, streams };
    if (isJSONRPCRequest(body)) {
      if (body.method === "subscriptions/listen") return this.#listen(body, headers, session);
      if (body.method === "events/stream" && this.#offersEvents(session)) {
        return this.#stream(body, headers, session);
      }
    }
    const typed = new Headers(headers);
    typed.set("content-type", "application/json");
    // Proxies read the name in the header. In the body is the tool that the call is for.
    if (isJSONRPCRequest(body) && headers.get("mcp-name") === USE_TOOL) {
      typed.set("mcp-name", String(body.params?.["name"]));
    }
    const request = new Request(url, { method, headers: typed });
    this.#sessions.set(request, session);
    return this.#stateless.fetch(request, { parsedBody: body });
  }

  /** Opens a subscription. The library would give it no bounds. */
  async #listen(message: JSONRPCRequest, headers: Headers, session: Served): Promise<Response> {
    const { id, params } = message;
    if (this.#subscriptions === null || !session.streams) {
      const refusal = "Nothing here can be subscribed to";
      return rpcError(404, RPC_ERROR.methodNotFound, refusal, id);
    }
    const refusal = refusalOfStream(message, headers);
    if (refusal !== null) return refusal;
    const capabilities = params?._meta?.[CLIENT_CAPABILITIES_META_KEY];
    const notifications = params?.["notifications"];
    const asksForTasks = isRecord(notifications) && notifications["taskIds"] !== undefined;
    if (asksForTasks && !followsTasks(capabilities)) {
      return errorResponse(id, new MissingRequiredClientCapabilityError(NEEDS_TASKS), 400);
    }
    const client = { capabilities, responses: undefined, state: undefined };
    return await this.#subscriptions.listen(message, { ...session, client }, this.#results);
  }

  /** Opens a stream of events, which has the bounds of subscriptions. */
  async #stream(message: JSONRPCRequest, headers: Headers, session: Served): Promise<Response> {
    const { id } = message;
    if (this.#events === null || !session.streams) {
      const refusal = "A stream of events needs Accept: text/event-stream";
      return rpcError(400, RPC_ERROR.invalidRequest, refusal, id);
    }
    const refusal = refusalOfStream(message, headers);
    if (refusal !== null) return refusal;
    try {
      return await this.#events.stream(message, session.context.caller);
    } catch (error) {
      if (error instanceof ProtocolError) return errorResponse(id, error, 200);
      throw error;
    }
  }

  #offersEvents({ context }: Served): boolean {
    return this.#events?.opens(context.caller.principal) === true;
  }

  /** A server for one request, because the library's server holds the state of one client. */
  #newServer(session: Served): Server {
    const instructions = this.#results.instructions(session);
    const offered = this.#results.capabilities(session);
    const subscribes = this.#subscriptions !== null && session.streams;
    const hasEvents = session.revision === STATELESS_REVISION && this.#offersEvents(session);
    const capabilities = {
      ...offered,
      ...subscribes && offered.resources !== undefined
        ? { resources: { subscribe: true as const } }
        : {},
      // Clients of the extension's draft look for it beside the others.
      ...hasEvents ? { events: {}, extensions: { ...offered.extensions, [EVENTS]: {} } } : {},
    };
    const server = new Server(SERVER_INFO, {
      capabilities,
      supportedProtocolVersions: [...INITIALIZED_REVISIONS],
      ...(instructions === undefined ? {} : { instructions }),
    });
    server.setRequestHandler("tools/list", () => ({ tools: this.#results.list(session) }));
    server.setRequestHandler("tools/call", ({ params: { name, arguments: input = {} } }, more) => {
      const tool = this.#results.find(name, session);
      if (tool !== null) return this.#results.call(tool, input, sessionOf(session, more));
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        this.#results.unknownTool(name, session),
      );
    });
    if (capabilities.extensions?.[TASKS] !== undefined) this.#offerTasks(server, session);
    if (capabilities.extensions?.[SKILLS] !== undefined) this.#offerSkills(server, session);
    if (hasEvents && this.#events !== null) this.#offerEvents(server, this.#events, session);
    if (capabilities.completions !== undefined) {
      server.setRequestHandler(
        "completion/complete",
        ({ params: { argument } }) => ({
          completion: { ...this.#results.complete(argument, session) },
        }),
      );
    }
    if (capabilities.resources !== undefined) this.#offerResources(server, session);
    if (capabilities.prompts !== undefined) this.#offerPrompts(server, session);
    return server;
  }

  #offerSkills(server: Server, session: Served): void {
    // The list comes whole: no cursor continues it.
    const page = { params: z.looseObject({ cursor: z.undefined().optional() }) };
    const byUri = { params: z.looseObject({ uri: z.string() }) };
    server.setRequestHandler("skills/list", page, () => ({ ...listSkills(), ...UNCHANGING }));
    server.setRequestHandler(
      "skills/get",
      byUri,
      ({ uri }) =>
        this.#explained(session, () => Promise.resolve({ ...getSkill(uri), ...UNCHANGING })),
    );
  }

  #offerEvents(server: Server, events: Events, session: Served): void {
    const params = z.looseObject({});
    const { caller } = session.context;
    const offer = (method: string, answer: (given: unknown) => Promise<Data>) =>
      server.setRequestHandler(
        method,
        { params },
        (given) => this.#explained(session, () => answer(given)),
      );
    offer("events/list", (given) => Promise.resolve(events.list(given)));
    offer("events/poll", (given) => events.poll(given, caller));
    offer("events/subscribe", (given) => events.subscribe(given, caller));
    offer("events/unsubscribe", (given) => events.unsubscribe(given, caller));
  }

  #offerTasks(server: Server, session: Served): void {
    const byId = { params: z.looseObject({ taskId: z.string() }) };
    const asked = (more: ServerContext): Session => {
      const heard = sessionOf(session, more);
      if (followsTasks(heard.client?.capabilities)) return heard;
      throw new MissingRequiredClientCapabilityError(NEEDS_TASKS);
    };
    server.setRequestHandler("tasks/get", byId, ({ taskId }, more) => {
      const heard = asked(more);
      return this.#explained(heard, () => this.#results.task(taskId, heard));
    });
    server.setRequestHandler("tasks/update", byId, async ({ taskId, inputResponses }, more) => {
      const heard = asked(more);
      const responses = more.mcpReq.inputResponses ?? inputResponses;
      await this.#explained(heard, () => this.#results.updateTask(taskId, responses, heard));
      return {};
    });
    server.setRequestHandler("tasks/cancel", byId, async ({ taskId }, more) => {
      const heard = asked(more);
      await this.#explained(heard, () => this.#results.cancelTask(taskId, heard));
      return {};
    });
  }

  #offerResources(server: Server, session: Session): void {
    const resources = this.#results.resourcesFor(session);
    if (resources === null) return;
    const { caller } = session.context;
    server.setRequestHandler(
      "resources/list",
      ({ params }) => this.#explained(session, () => resources.list(caller, params?.cursor)),
    );
    server.setRequestHandler(
      "resources/templates/list",
      () => ({ resourceTemplates: resources.templates }),
    );
    server.setRequestHandler(
      "resources/read",
      ({ params: { uri } }) =>
        this.#explained(
          session,
          async () => isOfSkill(uri) ? readSkill(uri) : await resources.read(uri, caller),
          { uri },
        ),
    );
  }

  #offerPrompts(server: Server, session: Served): void {
    server.setRequestHandler("prompts/list", () => ({ prompts: this.#results.prompts(session) }));
    server.setRequestHandler(
      "prompts/get",
      ({ params: { name, arguments: input = {} } }, more) =>
        this.#explained(session, () => this.#results.prompt(name, input, sessionOf(session, more))),
    );
  }

  /**
   * Turns the errors that a caller may know into those of the protocol.
   *
   * @param data what they say for programs
   */
  async #explained<Result>(
    session: Session,
    work: () => Promise<Result>,
    data?: object,
  ): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      const explanation = explain(error, {});
      if (explanation !== null) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, explanation, data);
      }
      const message = this.#results.report(error, session);
      throw new ProtocolError(ProtocolErrorCode.InternalError, message);
    }
  }
}

/** Why a request opens no stream; null if nothing is wrong with it. */
function refusalOfStream(
  { id, method, params }: JSONRPCRequest,
  headers: Headers,
): Response | null {
  if (!isRecord(params?._meta?.[CLIENT_CAPABILITIES_META_KEY])) {
    const refusal = `"_meta" must have "${CLIENT_CAPABILITIES_META_KEY}"`;
    return rpcError(400, RPC_ERROR.invalidParams, refusal, id);
  }
  if (headers.get("mcp-method") !== method) {
    const refusal = `The header Mcp-Method must be ${method}`;
    return rpcError(400, RPC_ERROR.headerMismatch, refusal, id);
  }
  return null;
}

function errorResponse(
  id: JSONRPCRequest["id"],
  { code, message, data }: ProtocolError,
  status: number,
): Response {
  const error = { code, message, ...data === undefined ? {} : { data } };
  return Response.json({ jsonrpc: "2.0", id, error }, { status });
}

/** The session of a call, with what the request says of its client. */
function sessionOf(session: Served, { mcpReq }: ServerContext): Session {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const progressToken = mcpReq._meta?.progressToken;
  const client = {
    capabilities: envelope[CLIENT_CAPABILITIES_META_KEY],
    responses: mcpReq.inputResponses,
    state: mcpReq.requestState(),
  };
  if (progressToken === undefined || !session.streams) return { ...session, client };
  const progress = (done: number, total: number) =>
    mcpReq.notify({
      method: "notifications/progress",
      params: { progressToken, progress: done, total },
    });
  return { ...session, client: { ...client, progress } };
}

/** Transports one request to a server and its answer back. */
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

  /** A server also sends messages other than answers, such as progress; these are dropped. */
  send(message: JSONRPCMessage): Promise<void> {
    if (!("method" in message)) this.#answer.resolve(message);
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
