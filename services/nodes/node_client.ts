import { Unavailable } from "../errors.ts";
import { MARK_HEADER, type MarkContent, type Marks } from "./marks.ts";
import type { NodeRecord, Nodes } from "./nodes.ts";

/** Most requests to one node whose answer has not begun. */
const MAX_WAITING = 2000;

/** How long an idle connection is kept, in milliseconds; a node closes its own end later. */
const IDLE = 4000;

/** Most idle connections to one node. */
const MAX_IDLE = 256;

/** After how many seconds to try again what a node did not answer. */
const RETRY_SECONDS = 2;

/** Headers that belong to one connection (RFC 9110, section 7.6.1), or that the client sets. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "trailer"],
  ...["upgrade", "expect", "content-length", "accept-encoding", MARK_HEADER.toLowerCase()],
]);

/** A request to another node. */
export interface NodeRequest {
  readonly method: string;
  /** The path with its query. */
  readonly target: string;
  readonly headers?: Headers;
  readonly body?: BodyInit | null;
  readonly signal?: AbortSignal;
  readonly mark: Omit<MarkContent, "to">;
}

export interface NodeClientOptions {
  readonly nodes: Pick<Nodes, "isRunning" | "onLooked">;
  readonly marks: Pick<Marks, "sign">;
  /** Most requests to one node whose answer has not begun; 2000 by default. */
  readonly maxWaiting?: number;
}

/** What this node asks of another one. */
interface Peer {
  /** How many requests wait for an answer. */
  waiting: number;
  /** Those of them with a body that clients may hold back, the oldest first. */
  readonly uploads: Set<AbortController>;
  /** Aborts when the node no longer runs. */
  readonly gone: AbortController;
}

/** Sends requests to other nodes, and waits for an answer only while the node runs. */
export class NodeClient {
  readonly #options: NodeClientOptions;
  readonly #client = Deno.createHttpClient({
    // The node makes its links with the name that the client used.
    allowHost: true,
    poolIdleTimeout: IDLE,
    poolMaxIdlePerHost: MAX_IDLE,
  });
  readonly #unsubscribe: () => void;
  /** By the name of the node. */
  readonly #peers = new Map<string, Peer>();

  constructor(options: NodeClientOptions) {
    this.#options = options;
    this.#unsubscribe = options.nodes.onLooked(() => this.#leaveStopped());
  }

  /**
   * Sends a request. The bodies of the request and of its answer are streams. If too many wait, the
   * oldest one whose body a client may hold back makes room.
   *
   * @throws Unavailable if the node does not run or does not answer
   */
  async send(node: NodeRecord, request: NodeRequest): Promise<Response> {
    const { name } = node;
    if (!this.#options.nodes.isRunning(name)) throw notRunning(name);
    const peer = this.#peers.get(name) ?? newPeer();
    if (peer.waiting >= (this.#options.maxWaiting ?? MAX_WAITING) && !endUpload(peer, name)) {
      throw busy(name);
    }
    this.#peers.set(name, peer);
    peer.waiting++;
    const upload = request.body instanceof ReadableStream ? new AbortController() : null;
    if (upload !== null) peer.uploads.add(upload);
    const ends = [peer.gone.signal, upload?.signal, request.signal];
    try {
      return await this.#fetch(node, request, ends.filter((signal) => signal !== undefined));
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      throw away(`The node "${name}" does not answer at the moment`, error);
    } finally {
      peer.waiting--;
      if (upload !== null) peer.uploads.delete(upload);
    }
  }

  /**
   * Sends a request of this node itself.
   *
   * @throws Unavailable like {@link send}
   */
  async ask(node: NodeRecord, request: Omit<NodeRequest, "mark">): Promise<Response> {
    const requestId = crypto.randomUUID();
    const mark = { kind: "internal", address: "", requestId, secure: false } as const;
    const { method, target, headers, body, signal } = request;
    return await this.send(node, {
      method,
      target,
      mark,
      ...headers === undefined ? {} : { headers },
      ...body === undefined ? {} : { body },
      ...signal === undefined ? {} : { signal },
    });
  }

  /** Ends all requests. */
  close(): void {
    this.#unsubscribe();
    for (const { gone } of this.#peers.values()) gone.abort();
    this.#peers.clear();
    this.#client.close();
  }

  async #fetch(node: NodeRecord, request: NodeRequest, ends: AbortSignal[]): Promise<Response> {
    const { method, body = null } = request;
    const url = new URL(node.url + request.target);
    const headers = new Headers();
    for (const [name, value] of request.headers ?? []) {
      if (!NOT_FORWARDED.has(name)) headers.append(name, value);
    }
    // A compressed answer would be unpacked here for nothing.
    headers.set("Accept-Encoding", "identity");
    const target = url.pathname + url.search;
    const mark = { ...request.mark, to: node.name };
    headers.set(MARK_HEADER, this.#options.marks.sign(mark, { method, target }));
    return await fetch(url, {
      method,
      headers,
      body: method === "GET" || method === "HEAD" ? null : body,
      redirect: "manual",
      signal: AbortSignal.any(ends),
      client: this.#client,
    });
  }

  /** Ends the requests to nodes that do not run any more, which might never answer. */
  #leaveStopped(): void {
    for (const [name, { gone }] of this.#peers) {
      if (this.#options.nodes.isRunning(name)) continue;
      this.#peers.delete(name);
      gone.abort();
    }
  }
}

function newPeer(): Peer {
  return { waiting: 0, uploads: new Set(), gone: new AbortController() };
}

/** Ends the oldest upload to a node; false if there is none. */
function endUpload({ uploads }: Peer, name: string): boolean {
  const [oldest] = uploads;
  if (oldest === undefined) return false;
  uploads.delete(oldest);
  oldest.abort(busy(name));
  return true;
}

function busy(name: string): Unavailable {
  return away(`The node "${name}" has too much to answer`);
}

/** The error for what only a node can do that does not run. */
export function notRunning(name: string): Unavailable {
  return away(`The node "${name}" does not run at the moment`);
}

function away(message: string, cause?: unknown): Unavailable {
  return new Unavailable(message, { retryAfterSeconds: RETRY_SECONDS, cause });
}
