import {
  allowOrigins,
  type Arrival,
  bodyLimitsOf,
  BodyReader,
  CREDENTIALS_MISSING,
  type Forwarding,
  Hosts,
  MCP_SESSION_HEADER,
  readAuthorization,
  recordAnswer,
  sessionKeyOf,
  TrustedProxies,
} from "../http/mod.ts";
import {
  Conflict,
  Forbidden,
  Invalid,
  NotFound,
  ServiceError,
  TooLarge,
  TooMany,
  TooSlow,
  Unauthorized,
  Unavailable,
} from "../services/kernel/errors.ts";
import {
  authorize,
  type Caller,
  OPERATOR,
  type Principal,
} from "../services/people/identity/mod.ts";
import { ForwardedCalls } from "./forwarded_calls.ts";
import { isRecord, RPC_ERROR, rpcError, type RpcErrorCode } from "./json_rpc.ts";
import { foreignOrigin, type Target, targetOf } from "./origin.ts";
import { type McpServices, Protocols } from "./protocols.ts";
import type { ToolContext } from "./tool_call.ts";
import { parseAddress } from "../services/operation/config/mod.ts";
import { unwrapped } from "./unlisted_calls.ts";
import { parseJson } from "../services/kernel/validation/mod.ts";

/**
 * Answers a request to the address of the MCP server.
 *
 * @param remoteAddress the address of the socket
 * @param trust called once the request has shown a valid credential
 * @param arrival what is known of it if there are several nodes
 */
export interface McpHandler {
  (
    request: Request,
    remoteAddress: string,
    trust?: Trust,
    arrival?: Arrival,
  ): Promise<Response>;
  /** Prepares what the first call would otherwise wait for. */
  prepare(): Promise<void>;
}

/**
 * Creates the handler of the MCP server: `POST /mcp`, JSON-RPC 2.0 over HTTP. Every answer to such
 * a POST is JSON-RPC, including refusals; other paths and methods get `{"error": …}`. The caller is
 * authenticated before the body is read, so the -32001 error has no request id.
 *
 * @param listens the configured address of the listener; default: `mcp_addr`
 * @param protocols what answers messages; default: muster's tools, resources and prompts
 */
export function createMcpHandler(
  services: McpServices,
  listens = services.config.mcp_addr,
  protocols: () => Answering = () => new Protocols(services),
): McpHandler {
  const endpoint = new Endpoint(services, listens, protocols);
  return Object.assign(handleMcp, { prepare: () => endpoint.prepare() });

  async function handleMcp(
    request: Request,
    remoteAddress: string,
    trust?: Trust,
    arrival?: Arrival,
  ) {
    const started = performance.now();
    const exchange: Exchange = {
      remoteAddress,
      requestId: arrival?.mark?.requestId ?? crypto.randomUUID(),
      route: "none",
      isForwarded: false,
      ...trust === undefined ? {} : { trust },
      ...arrival === undefined ? {} : { arrival },
    };
    const response = await endpoint.respond(request, exchange);
    if (exchange.isForwarded) return response;
    const { origins } = services.config.cors;
    if (origins.length > 0) allowOrigins(response.headers, request, origins);
    response.headers.set("X-Request-Id", exchange.requestId);
    response.headers.set("X-Content-Type-Options", "nosniff");
    recordAnswer(services, {
      ...exchange,
      method: request.method,
      status: response.status,
      milliseconds: performance.now() - started,
      principal: exchange.caller?.principal,
      address: exchange.caller?.address ?? remoteAddress,
    });
    return response;
  }
}

const PATH = /^\/mcp\/?$/;

/** Where clients find who gives tokens (RFC 9728); on the API's listener, the API answers. */
const RESOURCE_PATH = "/.well-known/oauth-protected-resource/mcp";

const ALLOW = "POST, DELETE, OPTIONS";

/** What answers messages. */
export type Answering = Pick<Protocols, "answering" | "placements" | "prepare" | "rehearse">;

/** Is told the principal of a valid credential: its connection is then kept. */
type Trust = (principal: Principal) => void;

/** A request that is being answered. */
interface Exchange {
  readonly remoteAddress: string;
  readonly requestId: string;
  readonly trust?: Trust;
  readonly arrival?: Arrival;
  /** Whether another node answers it, and records that. */
  isForwarded: boolean;
  /** The path, if it exists. */
  route: string;
  /** The caller, once authenticated. */
  caller?: Caller;
}

/** A request whose body has been read. */
interface Read {
  readonly request: Request;
  readonly text: string;
  readonly exchange: Exchange;
  readonly caller: Caller;
  /** Answers one of its messages here. */
  answerHere(message: unknown): Promise<Response>;
}

type ErrorClass = abstract new (...parameters: never[]) => ServiceError;

/** The checks before a tool is called. */
const REFUSALS: readonly (readonly [ErrorClass, number, RpcErrorCode])[] = [
  [Invalid, 400, RPC_ERROR.parse],
  [Unauthorized, 401, RPC_ERROR.unauthorized],
  [Forbidden, 403, RPC_ERROR.unauthorized],
  [NotFound, 404, RPC_ERROR.server],
  [Conflict, 409, RPC_ERROR.server],
  [TooSlow, 408, RPC_ERROR.invalidRequest],
  [TooLarge, 413, RPC_ERROR.invalidRequest],
  [TooMany, 429, RPC_ERROR.server],
  [Unavailable, 503, RPC_ERROR.server],
];

/**
 * The context of a request's calls. The runtime creates the signal on first access, and most calls
 * never need it. A literal with a getter would do, but V8 gives each one a hidden class of its own,
 * which keeps the whole request alive until the next full collection.
 */
class RequestContext implements ToolContext {
  readonly caller: Caller;
  readonly #request: Request;

  constructor(caller: Caller, request: Request) {
    this.caller = caller;
    this.#request = request;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }
}

/** A call that changes nothing. */
const REHEARSAL = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "tools/call",
  params: { name: "get_status", arguments: {} },
});

class Endpoint {
  readonly #services: McpServices;
  readonly #trustedProxies: TrustedProxies;
  readonly #hosts: Hosts;
  readonly #bodies: BodyReader;
  readonly #make: () => Answering;
  #protocols: Answering | null = null;
  #calls: ForwardedCalls | null = null;
  /** Of the last request; nearly all requests have the same. */
  #target: Target | null = null;

  constructor(services: McpServices, listens: string, protocols: () => Answering) {
    const { config } = services;
    this.#services = services;
    this.#trustedProxies = new TrustedProxies(config.trusted_proxies);
    this.#hosts = new Hosts(config, listens);
    this.#bodies = new BodyReader(bodyLimitsOf(config));
    this.#make = protocols;
  }

  /** Prepares what the first call would otherwise wait for. */
  async prepare(): Promise<void> {
    const protocols = this.#made();
    await protocols.prepare();
    // Code is compiled when it first runs. The first request is refused, having no credential.
    const request = new Request("http://localhost/mcp", { method: "POST", body: REHEARSAL });
    const exchange = { remoteAddress: "127.0.0.1", requestId: "", route: "none" };
    await this.respond(request, { ...exchange, isForwarded: false });
    const body = parseJson(await this.#bodies.read(request));
    const caller = { principal: OPERATOR, address: "127.0.0.1", requestId: "" };
    await protocols.rehearse(body, request, new RequestContext(caller, request));
  }

  async respond(request: Request, exchange: Exchange): Promise<Response> {
    const { remoteAddress, arrival } = exchange;
    const hidden = arrival?.mark ? null : this.#hosts.refusal(request, remoteAddress);
    if (hidden !== null) return rpcError(403, RPC_ERROR.server, hidden);
    const target = this.#targetOf(request.url);
    const { pathname } = target;
    if (pathname === RESOURCE_PATH && request.method === "GET") {
      exchange.route = RESOURCE_PATH;
      return await this.#resource(request, exchange);
    }
    if (!PATH.test(pathname)) {
      return Response.json({ error: `There is no ${pathname} here` }, { status: 404 });
    }
    exchange.route = "/mcp";
    if (request.method === "OPTIONS") {
      return new Response(null, { status: 204, headers: { Allow: ALLOW } });
    }
    const isEnd = request.method === "DELETE";
    if (request.method !== "POST" && !isEnd) {
      const error = `${pathname} does not take ${request.method}`;
      return Response.json({ error }, { status: 405, headers: { Allow: ALLOW } });
    }
    const { origins } = this.#services.config.cors;
    const refusal = foreignOrigin(target, request.headers.get("origin"), origins);
    if (refusal !== null) return rpcError(403, RPC_ERROR.server, refusal);
    try {
      if (arrival?.refusal) throw arrival.refusal;
      return await (isEnd ? this.#end(request, exchange) : this.#serve(request, exchange));
    } catch (error) {
      const failure = this.#failure(error, request, exchange.requestId);
      if (error instanceof Unauthorized) {
        const place = this.#originOf(request, exchange) + RESOURCE_PATH;
        const challenge = `Bearer realm="muster", resource_metadata="${place}"`;
        failure.headers.set("WWW-Authenticate", challenge);
      }
      return failure;
    }
  }

  /** Tokens are given by the API, at its own port of the same name. */
  async #resource(request: Request, exchange: Exchange): Promise<Response> {
    const { protectedResource } = await import("../routes/oauth.ts");
    const origin = this.#originOf(request, exchange);
    const issuer = new URL(origin);
    issuer.port = String(parseAddress(this.#services.config.api_addr)?.port ?? "");
    return Response.json(protectedResource(origin, issuer.origin));
  }

  /** This server as the client calls it. */
  #originOf({ url, headers }: Request, { remoteAddress, arrival }: Exchange): string {
    const secure = arrival?.mark?.secure ??
      this.#trustedProxies.identify(remoteAddress, { url, headers }).secure;
    return `${secure ? "https" : "http"}://${new URL(url).host}`;
  }

  #made(): Answering {
    return this.#protocols ??= this.#make();
  }

  #targetOf(url: string): Target {
    if (this.#target?.url !== url) this.#target = targetOf(url);
    return this.#target;
  }

  async #serve(request: Request, exchange: Exchange): Promise<Response> {
    const { identity } = this.#services;
    const { endings } = identity;
    const identified = await this.#identify(request, exchange);
    exchange.caller = identified;
    exchange.trust?.(identified.principal);
    const protocols = this.#made();
    const text = await this.#bodies.read(request);
    // A client may hold back the body until its credential has ended.
    const caller: Required<Caller> = identity.endings === endings
      ? identified
      : await this.#identify(request, exchange);
    let body: unknown;
    try {
      body = unwrapped(parseJson(text));
    } catch {
      return rpcError(400, RPC_ERROR.parse, "The body is not valid JSON");
    }
    const answerHere = async (message: unknown) => {
      const inSession = await this.#inSession(message, request, caller);
      const context = new RequestContext(inSession, request);
      const protocol = await protocols.answering(message, request, caller.principal);
      const response = await protocol.respond(message, request, context, caller.confirm);
      offerSession(message, request, caller.principal, response);
      return response;
    };
    const { forwarding } = this.#services;
    if (forwarding === undefined || exchange.arrival?.mark) return await answerHere(body);
    const post = { request, text, exchange, caller, answerHere };
    return await this.#forward(body, post, forwarding) ?? await answerHere(body);
  }

  /** The caller in the session that the request names; the first call of a tool begins it. */
  async #inSession(message: unknown, request: Request, caller: Caller): Promise<Caller> {
    const key = sessionKeyOf(request.headers, true);
    if (key === null) return caller;
    const begins = messagesIn(message).some(({ method }) => method === "tools/call");
    const { identity } = this.#services;
    const principal = await identity.enterSession(caller, key, begins);
    return principal === caller.principal ? caller : { ...caller, principal };
  }

  /** Ends a session, as its client asks. */
  async #end(request: Request, exchange: Exchange): Promise<Response> {
    const caller = exchange.caller = await this.#identify(request, exchange);
    const key = sessionKeyOf(request.headers, true);
    if (key === null) throw new Invalid(`DELETE needs the header ${MCP_SESSION_HEADER}`);
    const { agentSessions } = this.#services;
    if (agentSessions === undefined) throw new NotFound("There are no sessions here");
    await agentSessions.end(caller, key);
    return new Response(null, { status: 204 });
  }

  /** The answer of other nodes; null if this one answers. */
  async #forward(
    body: unknown,
    { exchange, caller: { principal }, request, text, answerHere }: Read,
    forwarding: Pick<Forwarding, "forward">,
  ): Promise<Response | null> {
    const calls = this.#calls ??= new ForwardedCalls({
      forwarding,
      placements: this.#made().placements(),
    });
    const { remoteAddress: address, trust = () => {} } = exchange;
    const response = await calls.answer(body, {
      request,
      connection: { address, isKept: false, trust },
      body: text,
      principal,
      completed: exchange.arrival?.completed,
      answerHere,
    });
    exchange.isForwarded = response !== null;
    return response;
  }

  async #identify(request: Request, exchange: Exchange): Promise<Required<Caller>> {
    const { remoteAddress, requestId } = exchange;
    const header = (name: string) => request.headers.get(name) ?? undefined;
    const address = exchange.arrival?.mark?.address ??
      this.#trustedProxies.clientOf(remoteAddress, header("x-forwarded-for"));
    const credential = readAuthorization(header("authorization"));
    if (credential === null) throw new Unauthorized(CREDENTIALS_MISSING);
    const { identity } = this.#services;
    const principal = await identity.authenticate(credential, address);
    if (!opensProjects(principal)) authorize(principal, "read", { kind: "coordination" });
    let seen = identity.endings;
    const confirm = async () => {
      if (identity.endings === seen) return;
      await this.#identify(request, exchange);
      seen = identity.endings;
    };
    return { principal, address, requestId, confirm };
  }

  #failure(error: unknown, request: Request, requestId: string): Response {
    const refusal = REFUSALS.find(([kind]) => error instanceof kind);
    if (error instanceof ServiceError && refusal !== undefined) {
      const [, status, code] = refusal;
      const response = rpcError(status, code, error.message);
      if (error instanceof TooSlow) response.headers.set("Connection", "close");
      const mayKnow = error instanceof TooMany || error instanceof Unavailable;
      if (mayKnow && error.retryAfterSeconds !== undefined) {
        response.headers.set("Retry-After", String(Math.ceil(error.retryAfterSeconds)));
      }
      return response;
    }
    if (!request.signal.aborted) {
      this.#services.log.error("An MCP request failed on a bug", { requestId, error });
    }
    return rpcError(500, RPC_ERROR.internal, `internal error (${requestId})`);
  }
}

/** The messages of a body. */
function messagesIn(body: unknown): readonly Record<string, unknown>[] {
  return (Array.isArray(body) ? body : [body]).filter(isRecord);
}

/** Gives an agent's client that initializes an id for its session, unless it has one. */
function offerSession(
  message: unknown,
  { headers }: Request,
  { kind }: Principal,
  response: Response,
): void {
  if (kind !== "agent" || response.status !== 200) return;
  if (!isRecord(message) || message.method !== "initialize") return;
  if (sessionKeyOf(headers, true) !== null) return;
  response.headers.set(MCP_SESSION_HEADER, crypto.randomUUID());
}

/** Whether a credential is for projects alone: each call then meets the rights in its project. */
function opensProjects({ kind }: Principal): boolean {
  return kind === "project" || kind === "person";
}
