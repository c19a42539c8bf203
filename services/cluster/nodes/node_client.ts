import { TooMany, Unavailable } from "../../kernel/errors.ts";
import {
  CallerQuota,
  type Holder,
  isOverseer,
  OPERATOR,
  type Principal,
} from "../../people/identity/mod.ts";
import { bodyUntil } from "../../kernel/body_until.ts";
import { MARK_HEADER, type MarkContent, type Marks } from "./marks.ts";
import { away, nobodyRuns, type NodeRecord, RETRY_SECONDS } from "../../kernel/nodes.ts";
import type { Nodes } from "./nodes.ts";

/**
 * Most requests to one node that are under way: half of the connections that it accepts by default.
 */
const MAX_UNDER_WAY = 4000;

/** How long an idle connection is kept, in milliseconds; a node closes its own end later. */
const IDLE = 4000;

/** Most idle connections to one node. */
const MAX_IDLE = 256;

/** Headers that belong to one connection (RFC 9110, section 7.6.1), or that the client sets. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "trailer"],
  ...["upgrade", "expect", "content-length", "accept-encoding", MARK_HEADER.toLowerCase()],
]);

/** Headers of an answer that belong to its connection. */
const NOT_RETURNED: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "transfer-encoding"],
]);

/** Answers up to this length are read as a whole, in bytes: that costs less than a stream. */
const WHOLE_BYTES = 65_536;

/** Methods of requests without a body. */
const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Where requests go whose target `fetch` would change. The mark has the target. */
const CHANGED_TARGET = "/forwarded";

/** A target that `fetch` certainly does not change. */
const PLAIN_TARGET = /^(?:\/[\w-]+)+$/;

const encoder = new TextEncoder();

const NO_HEADERS = new Headers();

const NO_BYTES = new Uint8Array(0);

/** What a node asks in its own name. */
const THIS_NODE: Holder = { principal: OPERATOR, address: null };

/** A request to another node. */
export interface NodeRequest {
  readonly method: string;
  /** The path with its query. It arrives byte for byte. */
  readonly target: string;
  /** The name of the host that the client used; by default, that of the node. */
  readonly host?: string;
  readonly headers?: Headers;
  /** Bytes cost less than a stream. */
  readonly body?: Uint8Array | ReadableStream<Uint8Array> | null;
  /** Its signal ends this request. */
  readonly client?: Pick<Request, "signal">;
  readonly mark: Omit<MarkContent, "target">;
  /** Whose place it takes, if many are under way. */
  readonly caller: () => Holder;
  /** Settles when its answer has been passed on. By default, its place is free once that begins. */
  readonly completed?: Promise<void> | undefined;
}

export interface NodeClientOptions {
  readonly nodes: Pick<Nodes, "isRunning" | "onLooked">;
  readonly marks: Pick<Marks, "sign">;
  /** Most requests to one node that are under way; 4000 by default. */
  readonly maxUnderWay?: number;
}

/**
 * Sends requests to other nodes, and waits for an answer only while the node runs. {@linkcode CallerQuota}
 * bounds how many are under way, for each caller and in all.
 */
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
   * Sends a request. The body of its answer is a stream, unless it is short. If too many are under
   * way, the oldest one whose body a client may hold back makes room.
   *
   * @returns the answer, whose headers can be changed
   * @throws Unavailable if the node does not run or does not answer; TooMany if there is no place
   */
  async send(node: NodeRecord, request: NodeRequest): Promise<Response> {
    const { name } = node;
    if (!this.#options.nodes.isRunning(name)) throw nobodyRuns();
    const peer = this.#peerOf(name);
    const { body } = request;
    const upload = body instanceof ReadableStream ? peer.enterUpload(request.caller()) : null;
    const { leave } = upload ??
      (isInOnePiece(request) ? peer.enter(request.caller) : peer.enterPlace(request.caller()));
    const ends = [peer.gone, upload?.signal, request.client?.signal];
    const signal = AbortSignal.any(ends.filter((one) => one !== undefined));
    try {
      const response = await this.#fetch(node, request, signal);
      if (request.completed === undefined) leave();
      else request.completed.then(leave, leave);
      return response;
    } catch (error) {
      leave();
      if (error instanceof Unavailable) throw error;
      throw away("The node that can answer this is silent at the moment; try again", error);
    } finally {
      if (upload !== null) peer.answered(upload);
    }
  }

  /**
   * Sends a request of this node itself.
   *
   * @throws Unavailable like {@link send}
   */
  async ask(
    node: NodeRecord,
    { signal, body, ...request }: Omit<NodeRequest, "mark" | "caller" | "client" | "body"> & {
      readonly body?: NodeRequest["body"] | string;
      readonly signal?: AbortSignal;
    },
  ): Promise<Response> {
    const requestId = crypto.randomUUID();
    const mark = { kind: "internal", address: "", requestId, secure: false } as const;
    return await this.send(node, {
      ...request,
      body: typeof body === "string" ? encoder.encode(body) : body ?? null,
      mark,
      caller: () => THIS_NODE,
      ...signal === undefined ? {} : { client: { signal } },
    });
  }

  /** Ends all requests. */
  close(): void {
    this.#unsubscribe();
    for (const peer of this.#peers.values()) peer.close();
    this.#peers.clear();
    this.#client.close();
  }

  /** Sends a request; a read is sent again if its connection ends in place of an answer. */
  async #fetch(node: NodeRecord, request: NodeRequest, signal: AbortSignal): Promise<Response> {
    try {
      return await this.#fetchOnce(node, request, signal);
    } catch (error) {
      if (!BODILESS.has(request.method) || signal.aborted) throw error;
      // The node may just have closed a connection that was idle.
      return await this.#fetchOnce(node, request, signal);
    }
  }

  async #fetchOnce(
    node: NodeRecord,
    { method, target: asked, host, headers: given = NO_HEADERS, body = null, mark }: NodeRequest,
    signal: AbortSignal,
  ): Promise<Response> {
    const isPlain = PLAIN_TARGET.test(asked) || isUnchanged(node.url, asked);
    const target = isPlain ? asked : CHANGED_TARGET;
    const content = isPlain ? mark : { ...mark, target: asked };
    const signed = this.#options.marks.sign(content, node, { method, target, headers: given });
    const headers: [string, string][] = [];
    // Ten times as fast as its iterator.
    given.forEach((value, name) => {
      if (name !== "host" && !NOT_FORWARDED.has(name)) headers.push([name, value]);
    });
    // A compressed answer would be unpacked here for nothing.
    headers.push(["accept-encoding", "identity"], [MARK_HEADER, signed.header]);
    // HTTP/2 has no such header.
    if (host !== undefined) headers.push(["host", host]);
    const answer = await fetch(node.url + target, {
      method,
      headers,
      body: BODILESS.has(method)
        ? null
        : body instanceof ReadableStream
        ? signed.body.stream(body)
        : signed.body.whole(body ?? NO_BYTES),
      redirect: "manual",
      signal,
      client: this.#client,
    });
    const returned = new Headers(answer.headers);
    for (const name of NOT_RETURNED) returned.delete(name);
    const { status } = answer;
    if (answer.body === null) return new Response(null, { status, headers: returned });
    const length = Number(returned.get("content-length") ?? NaN);
    const bytes = length <= WHOLE_BYTES
      ? await answer.arrayBuffer()
      : bodyUntil(answer.body, signal);
    return new Response(bytes, { status, headers: returned });
  }

  #peerOf(name: string): Peer {
    const known = this.#peers.get(name);
    if (known !== undefined) return known;
    const peer = new Peer(this.#options.maxUnderWay ?? MAX_UNDER_WAY);
    this.#peers.set(name, peer);
    return peer;
  }

  /** Ends the requests to nodes that do not run any more, which might never answer. */
  #leaveStopped(): void {
    for (const [name, peer] of this.#peers) {
      if (this.#options.nodes.isRunning(name)) continue;
      this.#peers.delete(name);
      peer.close();
    }
  }
}

/** Whether `fetch` sends a target as it is. */
function isUnchanged(url: string, target: string): boolean {
  const { pathname, search } = new URL(url + target);
  return pathname + search === target;
}

/** Whether a request and its answer are in one piece each. The runtime copies long streams. */
function isInOnePiece({ headers, body = null }: NodeRequest): boolean {
  if (body !== null && !(body instanceof Uint8Array)) return false;
  return !(headers?.get("accept")?.includes("text/event-stream") ?? false);
}

/**
 * The part of all requests that takes no place of a caller: to find out whose request it is costs
 * more than to send it, and as long as there are few, nobody is in anybody's way.
 */
const FREE_PART = 1 / 16;

/** A request that is under way. */
interface PendingRequest {
  /** Call this at its end; the second time, it does nothing. */
  readonly leave: () => void;
}

/** A request whose body a client may hold back. */
interface Upload extends PendingRequest {
  readonly principal: Principal;
  /** Aborts if another request takes its place. */
  readonly signal: AbortSignal;
  /** Ends it, and gives its place to another request. */
  end(error: Unavailable): void;
}

/** What this node asks of another one. */
class Peer {
  /** How many more requests may be under way without a place. */
  #free: number;
  readonly #quota: CallerQuota;
  /** Those with a place whose answer has not come; the oldest first. */
  readonly #uploads = new Set<Upload>();
  readonly #gone = new AbortController();

  /** @param maxUnderWay most requests that are under way */
  constructor(maxUnderWay: number) {
    this.#free = Math.floor(maxUnderWay * FREE_PART);
    this.#quota = new CallerQuota(maxUnderWay - this.#free, {
      things: "requests",
      state: "under way to another node",
      retrySeconds: RETRY_SECONDS,
    });
  }

  /** Aborts when the node no longer runs. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /**
   * Lets a request in one piece begin, in a place of its caller if many are under way.
   *
   * @throws TooMany
   */
  enter(caller: () => Holder): PendingRequest {
    if (this.#free === 0) return this.enterPlace(caller());
    this.#free--;
    let isHeld = true;
    return {
      leave: () => {
        if (isHeld) this.#free++;
        isHeld = false;
      },
    };
  }

  /**
   * Lets a request begin in a place of its caller. If there is none, the oldest one whose body a
   * client may hold back makes room.
   *
   * @throws TooMany
   */
  enterPlace(caller: Holder): PendingRequest {
    try {
      return leaving(this.#quota.take(caller));
    } catch (error) {
      if (!(error instanceof TooMany) || this.#quota.isFullOf(caller)) throw error;
      const isGuest = caller.principal.kind === "guest";
      const oldest = this.#uploads.values().find(({ principal }) =>
        isGuest ? principal.kind === "guest" : !isOverseer(principal)
      );
      if (oldest === undefined) throw error;
      this.#uploads.delete(oldest);
      oldest.end(away("The node that can answer this has too much to answer"));
      return leaving(this.#quota.take(caller));
    }
  }

  /**
   * Lets a request begin whose body a client may hold back. Call {@linkcode answered} when its answer
   * begins, or will not come.
   *
   * @throws TooMany
   */
  enterUpload(caller: Holder): Upload {
    const { leave } = this.enterPlace(caller);
    const abort = new AbortController();
    const upload: Upload = {
      principal: caller.principal,
      signal: abort.signal,
      leave,
      end(error) {
        leave();
        abort.abort(error);
      },
    };
    this.#uploads.add(upload);
    return upload;
  }

  /** A client no longer holds up a request. */
  answered(upload: Upload): void {
    this.#uploads.delete(upload);
  }

  /** Ends all requests. */
  close(): void {
    this.#gone.abort();
  }
}

function leaving(held: Disposable): PendingRequest {
  return { leave: () => held[Symbol.dispose]() };
}
