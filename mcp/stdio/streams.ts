/** Answers that go on: streams of a server, passed on message by message. */
import { bodyUntil } from "../../services/kernel/body_until.ts";
import { isRecord, type RequestId, RPC_ERROR } from "../json_rpc.ts";
import { revisionIn, STATELESS_REVISION } from "../revisions.ts";
import { NotDelivered } from "./delivery.ts";

/** The methods whose answers are streams. */
const METHODS: ReadonlySet<unknown> = new Set(["subscriptions/listen", "events/stream"]);

/** Most streams of a client. */
const MAX_STREAMS = 32;

/** Longest message of a stream, in characters. */
const MAX_MESSAGE = 2 ** 20;

/** The id of the stream of resources that a client of an earlier revision has subscribed to. */
const RESOURCES = "muster-resources";

/** Most resources of a client of an earlier revision. */
const MAX_RESOURCES = 100;

const UPDATED = "notifications/resources/updated";

export interface StreamsOptions {
  /** @throws NotDelivered */
  readonly deliver: (message: unknown, signal: AbortSignal) => Promise<Response>;
  readonly write: (message: object) => Promise<void>;
  /** Aborts at the end. */
  readonly ended: AbortSignal;
}

/** Whether a message asks for a stream. */
export function opensStream(message: unknown): message is StreamRequest {
  return isRecord(message) && METHODS.has(message.method) && revisionIn(message) !== null &&
    (typeof message.id === "string" || typeof message.id === "number");
}

interface StreamRequest {
  readonly id: RequestId;
  readonly method: string;
}

/** The streams that one client reads, besides its other answers. */
export class Streams {
  readonly #options: StreamsOptions;
  readonly #open = new Map<RequestId, AbortController>();
  /** What a client of an earlier revision has subscribed to. */
  readonly #resources = new Set<string>();

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  /** Passes on what answers a request, until the client cancels it or the server ends it. */
  async open(request: StreamRequest): Promise<void> {
    const { id } = request;
    if (this.#open.size >= MAX_STREAMS) {
      return await this.#refuse(id, `There are ${MAX_STREAMS} streams: cancel one first`);
    }
    const cancel = new AbortController();
    this.#open.get(id)?.abort();
    this.#open.set(id, cancel);
    const signal = AbortSignal.any([cancel.signal, this.#options.ended]);
    try {
      const isAnswered = await this.#pass(
        request,
        signal,
        (message) => this.#options.write(message),
      );
      if (!isAnswered && !signal.aborted) await this.#refuse(id, "The stream broke off: ask again");
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof NotDelivered
        ? error.message
        : "The stream broke off: ask again";
      await this.#refuse(id, reason);
    } finally {
      if (this.#open.get(id) === cancel) this.#open.delete(id);
    }
  }

  /** Ends a stream, as its client asks; it expects no answer. */
  cancel(id: RequestId): void {
    this.#open.get(id)?.abort();
  }

  /**
   * Answers `resources/subscribe` and `resources/unsubscribe` of an earlier revision: one stream of the
   * stateless revision tells of all of the client's resources.
   *
   * @returns null for any other message
   */
  resources(message: unknown): { readonly id: RequestId; readonly answer: object } | null {
    if (!isRecord(message) || revisionIn(message) !== null) return null;
    const { id, method, params } = message;
    const isOne = method === "resources/subscribe" || method === "resources/unsubscribe";
    if (!isOne || typeof id !== "string" && typeof id !== "number") return null;
    const uri = isRecord(params) ? params.uri : undefined;
    if (typeof uri !== "string") {
      const error = { code: RPC_ERROR.invalidParams, message: '"uri" must be a text' };
      return { id, answer: { error } };
    }
    if (method === "resources/unsubscribe") this.#resources.delete(uri);
    else if (this.#resources.size >= MAX_RESOURCES && !this.#resources.has(uri)) {
      const error = {
        code: RPC_ERROR.server,
        message: `There are ${MAX_RESOURCES} subscriptions: end one first`,
      };
      return { id, answer: { error } };
    } else this.#resources.add(uri);
    void this.#followResources();
    return { id, answer: { result: {} } };
  }

  /** Follows the resources as they are now. A stream that breaks off begins again by itself. */
  async #followResources(): Promise<void> {
    this.#open.get(RESOURCES)?.abort();
    this.#open.delete(RESOURCES);
    if (this.#resources.size === 0) return;
    const cancel = new AbortController();
    this.#open.set(RESOURCES, cancel);
    const signal = AbortSignal.any([cancel.signal, this.#options.ended]);
    const request = {
      jsonrpc: "2.0",
      id: RESOURCES,
      method: "subscriptions/listen",
      params: {
        notifications: { resourceSubscriptions: [...this.#resources] },
        _meta: {
          "io.modelcontextprotocol/protocolVersion": STATELESS_REVISION,
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    };
    for (let pause = FIRST_PAUSE; !signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      try {
        const isOver = await this.#pass(request, signal, async (message) => {
          if (message["method"] !== UPDATED) return;
          pause = FIRST_PAUSE;
          const { uri } = isRecord(message["params"]) ? message["params"] : {};
          await this.#options.write({ jsonrpc: "2.0", method: UPDATED, params: { uri } });
        });
        // There is nothing of these that the client may read.
        if (isOver) return;
      } catch {
        // It is tried again.
      }
      await paused(pause, signal);
    }
  }

  /** @returns whether the server has answered the request itself */
  async #pass(
    request: object & { readonly id: RequestId },
    signal: AbortSignal,
    take: (message: Readonly<Record<string, unknown>>) => Promise<void>,
  ): Promise<boolean> {
    const response = await this.#options.deliver(request, signal);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    const messages = isStream && response.body !== null
      ? messagesOf(bodyUntil(response.body, signal))
      : [await response.json()];
    let isAnswered = false;
    for await (const message of messages) {
      if (signal.aborted || !isRecord(message)) continue;
      isAnswered ||= message.id === request.id;
      await take(message);
    }
    return isAnswered;
  }

  async #refuse(id: RequestId, message: string): Promise<void> {
    await this.#options.write({ jsonrpc: "2.0", id, error: { code: RPC_ERROR.server, message } });
  }
}

/** Pauses before a stream that broke off begins again, in milliseconds. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30_000;

async function paused(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}

/** The messages of a stream of server-sent events. */
async function* messagesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  let rest = "";
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_MESSAGE) throw new Error("A message is too long");
    for (const line of lines) {
      if (line.startsWith("data: ")) yield JSON.parse(line.slice("data: ".length));
    }
  }
}
