import { ServiceError, TooMany, Unavailable } from "../services/kernel/errors.ts";
import type { Principal } from "../services/people/identity/mod.ts";
import {
  type Mark,
  MARK_HEADER,
  type Marks,
  type NodeClient,
  type Nodes,
  type RefusedMark,
  type Verified,
} from "../services/cluster/nodes/mod.ts";
import type { NodeRecord } from "../services/kernel/nodes.ts";
import { BODILESS, type BodyReader, dropUnreadBody, unreadable, withBody } from "./body.ts";
import type { Callers } from "./callers.ts";
import type { TrustedProxies } from "./forwarded.ts";
import { ANY_HOST, authorityOf, type Hosts, targetOf } from "./hosts.ts";
import type { HttpHandler, RequestConnection } from "./server.ts";

/** In an answer to another node: whose valid credential the request had. */
const PRINCIPAL_HEADER = "X-Muster-Principal";

/** Longest body that goes to another node in one piece, in bytes. */
const SHORT_BYTES = 16_384;

/** Longest signed body that is read as a whole. */
const SHORT_SIGNED_BYTES = SHORT_BYTES + 64;

const encoder = new TextEncoder();

/** After how many seconds to try again what no node could answer. */
const RETRY_SECONDS = 1;

/** What a node answers that has lost touch with the others. */
const HEALTH = /^\w+:\/\/[^/]+\/(?:healthz|readyz)$/;

/** After how many seconds to try again what a node refuses that has lost touch. */
const OUTDATED_SECONDS = 2;

/** Decides which node answers a request. */
export interface Placement {
  /**
   * The other node that answers a request; null if this one does, or if this placement does not say.
   *
   * @param mark the mark of the node that has already forwarded it, or null
   * @throws ServiceError if no node can answer it at the moment
   */
  nodeFor(request: Request, mark: Mark | null): NodeRecord | null;
  /**
   * Whether this node answers if the other one does not: it finds out itself that it cannot, once it
   * knows that its client may know. By default, the client is refused at once.
   */
  readonly refusesItself?: boolean;
}

/** What is known of a request before it is routed. */
export interface Arrival {
  /** The mark of the node that forwards it; null if it comes from a client. */
  readonly mark: Mark | null;
  /** Why it cannot be answered, for an answer in the form that its client expects; or null. */
  readonly refusal: ServiceError | null;
  /** Settles when its answer has been sent, or its client is gone. */
  readonly completed?: Promise<void> | undefined;
}

/** Answers a request, or refuses it. The arrival is undefined on a server that is alone. */
export type ArrivalHandler = (
  request: Request,
  connection: RequestConnection,
  arrival: Arrival | undefined,
) => Response | Promise<Response>;

export interface ForwardingOptions {
  readonly client: Pick<NodeClient, "send">;
  /** Reads bodies that go to another node in one piece. */
  readonly bodies: Pick<BodyReader, "readShort">;
  readonly marks: Pick<Marks, "read">;
  readonly proxies: TrustedProxies;
  readonly nodes: Pick<Nodes, "isCurrent">;
  readonly callers: Pick<Callers, "of">;
  /** The first that names a node decides. */
  readonly placements: readonly Placement[];
}

/** The node that answers a request, and what named it. */
interface Found {
  readonly node: NodeRecord;
  readonly placement: Placement;
}

/** A request to forward, of which a part may have been read. */
export interface Forwarded {
  readonly request: Request;
  readonly connection: Pick<RequestConnection, "address" | "isKept" | "trust">;
  /** What was read of the body already; by default, nothing. */
  readonly body?: string;
  /** Whose request it is; by default, what its credential tells at once. */
  readonly principal?: Principal;
  /** As {@linkcode Arrival.completed}. */
  readonly completed?: Promise<void> | undefined;
}

/** Forwards requests to the nodes that can answer them, and takes those that others forward. */
export class Forwarding {
  readonly #options: ForwardingOptions;
  #proven: { readonly text: string; readonly principal: Principal } | null = null;

  constructor(options: ForwardingOptions) {
    this.#options = options;
  }

  /**
   * A handler that forwards what other nodes answer.
   *
   * @param hosts what they refuse is not forwarded: the handler refuses it
   * @param placements what decides it; by default, all
   */
  around(
    handler: ArrivalHandler,
    hosts: Pick<Hosts, "refusal"> = ANY_HOST,
    placements = this.#options.placements,
  ): HttpHandler {
    return (request, connection, completed) => {
      if (!this.#options.nodes.isCurrent && !HEALTH.test(request.url)) {
        if (wantsPage(request)) return outdatedPage();
        return handler(request, connection, arrival(null, outdated()));
      }
      const verified = this.#verify(request);
      if (typeof verified === "string") {
        return handler(request, connection, arrival(null, refusedMark(verified)));
      }
      const mark = verified?.mark ?? null;
      if (mark === null && hosts.refusal(request, connection.address) !== null) {
        return handler(request, connection, arrival(null, null));
      }
      let found;
      try {
        found = find(placements, request, mark);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        return handler(request, connection, arrival(mark, error));
      }
      if (verified !== null) return this.#take(handler, request, connection, verified);
      if (found === null) return handler(request, connection, arrival(null, null, completed));
      const { node, placement: { refusesItself = false } } = found;
      return this.forward(node, { request, connection, completed }).catch((error) => {
        if (!(error instanceof ServiceError)) throw error;
        const refuse = () => handler(request, connection, arrival(null, error));
        if (!refusesItself) return refuse();
        const answered = handler(unreadable(request, error), connection, arrival(null, null));
        return error instanceof TooMany ? insteadOfAway(answered, refuse) : answered;
      });
    };
  }

  /**
   * Forwards a request with the credential of its client, and returns the answer.
   *
   * @throws Unavailable if the node does not answer, TooMany if it has no place for the caller
   */
  async forward(node: NodeRecord, forwarded: Forwarded): Promise<Response> {
    const { client, proxies, callers } = this.#options;
    const { request, connection, completed, principal } = forwarded;
    const { method, headers } = request;
    const { body } = forwarded;
    const { address, secure } = proxies.identify(connection.address, request);
    const requestId = crypto.randomUUID();
    const response = await client.send(node, {
      method,
      target: targetOf(request),
      host: authorityOf(request),
      headers,
      body: body === undefined ? await this.#bodyOf(request) : encoder.encode(body),
      client: request,
      mark: { kind: "forwarded", address, requestId, secure, kept: connection.isKept },
      caller: () => ({ principal: principal ?? callers.of(request), address }),
      completed,
    });
    const proven = response.headers.get(PRINCIPAL_HEADER);
    if (proven === null) return response;
    try {
      connection.trust(this.#principalFrom(proven));
    } catch (error) {
      await response.body?.cancel();
      throw error;
    }
    response.headers.delete(PRINCIPAL_HEADER);
    return response;
  }

  /** The body of a request: its bytes, if it is short. */
  #bodyOf(
    request: Request,
  ): Promise<Uint8Array<ArrayBuffer>> | ReadableStream<Uint8Array<ArrayBuffer>> | null {
    const { method, headers } = request;
    if (method === "GET" || method === "HEAD") return null;
    const declared = Number(headers.get("content-length") ?? NaN);
    if (declared === 0) return null;
    const isShort = declared <= SHORT_BYTES && !headers.has("expect");
    return isShort ? this.#options.bodies.readShort(request) : request.body;
  }

  /** Whose valid credential another node has seen; most answers in a row name the same. */
  #principalFrom(text: string): Principal {
    if (this.#proven?.text !== text) this.#proven = { text, principal: principalFrom(text) };
    return this.#proven.principal;
  }

  /** Reads the mark of a request, and gives it the target that the client asked for. */
  #verify(request: Request): Verified | RefusedMark | null {
    const { method, headers } = request;
    const text = headers.get(MARK_HEADER);
    if (text === null) return null;
    const target = targetOf(request);
    const verified = this.#options.marks.read(text, { method, target, headers });
    if (verified === null || typeof verified === "string") return verified;
    const { mark } = verified;
    if (mark.target === undefined) return verified;
    const url = request.url.slice(0, -target.length) + mark.target;
    // A new request would have another URL: its constructor resolves `..`, for one.
    Object.defineProperty(request, "url", { value: url });
    return verified;
  }

  /** Answers a request that another node forwards, and tells it whose credential was valid. */
  async #take(
    handler: ArrivalHandler,
    signed: Request,
    connection: RequestConnection,
    { mark, body }: Verified,
  ): Promise<Response> {
    connection.relay();
    let trusted: Principal | null = null;
    const relayed: RequestConnection = {
      address: mark.address,
      isKept: false,
      trust(principal) {
        trusted = principal;
        connection.trust(principal);
      },
      relay() {},
    };
    const request = await this.#withVerifiedBody(signed, body);
    const response = await handler(request, relayed, arrival(mark, null));
    if (request !== signed) await dropUnreadBody(request, trusted !== null);
    if (trusted !== null && mark.kept !== true) {
      response.headers.set(PRINCIPAL_HEADER, principalText(trusted));
    }
    return response;
  }

  /** The request with the body that another node has signed. Who reads another one gets an error. */
  async #withVerifiedBody(request: Request, verifier: Verified["body"]): Promise<Request> {
    if (BODILESS.has(request.method)) return request;
    const declared = Number(request.headers.get("content-length") ?? NaN);
    if (!(declared <= SHORT_SIGNED_BYTES)) {
      const streamed = withBody(request, verifier.stream(request.body ?? new Blob().stream()));
      // That of the chunks with their codes.
      streamed.headers.delete("content-length");
      return streamed;
    }
    try {
      const bytes = verifier.whole(await this.#options.bodies.readShort(request));
      const verified = withBody(request, bytes);
      verified.headers.set("content-length", String(bytes.length));
      return verified;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return unreadable(request, error);
    }
  }
}

/** @throws ServiceError if no node can answer */
function find(
  placements: readonly Placement[],
  request: Request,
  mark: Mark | null,
): Found | null {
  for (const placement of placements) {
    const node = placement.nodeFor(request, mark);
    if (node === null) continue;
    if (mark !== null) throw moved();
    return { node, placement };
  }
  return null;
}

function arrival(
  mark: Mark | null,
  refusal: ServiceError | null,
  completed?: Promise<void>,
): Arrival {
  return { mark, refusal, completed };
}

function moved(): Unavailable {
  return new Unavailable("What the request is about is moving to another node; try again", {
    retryAfterSeconds: RETRY_SECONDS,
  });
}

function outdated(): Unavailable {
  return new Unavailable("This node has lost touch with the database; try again", {
    retryAfterSeconds: OUTDATED_SECONDS,
  });
}

/** What refuses a request in place of an answer which says that another node is away. */
async function insteadOfAway(
  answered: Response | Promise<Response>,
  refuse: () => Response | Promise<Response>,
): Promise<Response> {
  const response = await answered;
  return response.status === 503 ? await refuse() : response;
}

/** Pages know their reader by what is in memory, so this one is none of them. */
function outdatedPage(): Response {
  return new Response(`${outdated().message}\n`, {
    status: 503,
    headers: {
      "Cache-Control": "no-store",
      "Content-Type": "text/plain; charset=utf-8",
      "Retry-After": String(OUTDATED_SECONDS),
      "X-Content-Type-Options": "nosniff",
    },
  });
}

function wantsPage({ headers }: Request): boolean {
  return headers.get("accept")?.includes("text/html") ?? false;
}

function refusedMark(mark: RefusedMark): Unavailable {
  return new Unavailable(REFUSED_MARKS[mark], { retryAfterSeconds: RETRY_SECONDS });
}

/** Why this node cannot take a request of another one. */
const REFUSED_MARKS: Readonly<Record<RefusedMark, string>> = {
  stale: "The clocks of two nodes differ by more than a minute; the operator must set them",
  misdirected: "The node.url of a node leads to another node; the operator must correct it",
  restarted: "The node has just started again; try again",
  repeated: "This request of another node has come before; try again",
};

/** What decides whose connection it is. */
type Holder = Pick<Principal, "kind" | "id" | "project">;

function principalText({ kind, id, project }: Principal): string {
  return JSON.stringify({ kind, id, project } satisfies Holder);
}

/** @throws Unavailable if it is not what {@linkcode principalText} writes */
function principalFrom(text: string): Principal {
  const { kind, id, project } = holderFrom(text);
  return { kind, id, project, name: "", scopes: new Set(), tokenId: null, sessionId: null };
}

function holderFrom(text: string): Holder {
  let holder: Partial<Record<keyof Holder, unknown>> | null = null;
  try {
    holder = JSON.parse(text);
  } catch {
    // It is refused below.
  }
  const { kind, id, project } = holder ?? {};
  if (typeof kind === "string" && isTextOrNull(id) && isTextOrNull(project)) {
    return holder as Holder;
  }
  throw new Unavailable("The answer of another node cannot be read; try again");
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === "string";
}
