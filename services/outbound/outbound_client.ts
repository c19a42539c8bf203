import { type AddressRules, checkedAddresses, ClosedHost } from "./addresses.ts";

/** How much of a body that nobody reads is read and dropped, in bytes. */
const MAX_DROPPED = 16_384;

/** What to post, and where. */
export interface OutboundRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
  /** Ends the request, the body of its answer included. */
  readonly signal: AbortSignal;
}

/** An answer. Read its body, or leave it. */
export interface OutboundAnswer {
  readonly status: number;
  /** A header's value, by its name in lower case; the first one of several, null without any. */
  header(name: string): string | null;
  /** @throws OutboundFailure if the body ends early */
  readonly body: AsyncIterable<Uint8Array>;
  /** Drops the body. A short one leaves the connection to the next request. */
  leave(): void;
}

type Opened = Pick<typeof import("./undici.ts"), "request"> & {
  readonly agent: ReturnType<typeof import("./undici.ts").openAgent>;
};

/** Why a request has no whole answer, as a sentence without a name of the server. */
export class OutboundFailure extends Error {
  override readonly name = "OutboundFailure";
  /** Whether another attempt may succeed: the connection failed, and what came was well-formed. */
  readonly isPassing: boolean;

  constructor(message: string, isPassing: boolean, cause: unknown) {
    super(message, { cause });
    this.isPassing = isPassing;
  }
}

/**
 * Posts to servers that others name, with `undici`, which the first request loads. Each new
 * connection resolves its host once, checks all of its addresses, and goes to one of exactly these.
 * Redirects are not followed. A head of an answer has up to 16 KB; the caller bounds the time by its
 * signal, and the body by reading no further.
 */
export class OutboundClient {
  readonly #rules: AddressRules;
  #opened: Promise<Opened> | null = null;

  constructor(rules: AddressRules) {
    this.#rules = rules;
  }

  /**
   * Posts a body.
   *
   * @throws ClosedHost; OutboundFailure; the reason of the signal
   */
  async post(url: URL, { headers, body, signal }: OutboundRequest): Promise<OutboundAnswer> {
    this.#opened ??= this.#open();
    try {
      const { request, agent } = await this.#opened;
      const { statusCode, headers: received, body: parts } = await request(url, {
        method: "POST",
        headers,
        body,
        signal,
        dispatcher: agent,
      });
      return {
        status: statusCode,
        header(name) {
          const value = received[name];
          return (Array.isArray(value) ? value[0] : value) ?? null;
        },
        body: read(parts, signal),
        leave() {
          parts.dump({ limit: MAX_DROPPED, signal }).catch(() => {});
        },
      };
    } catch (error) {
      throw failureOf(error, signal);
    }
  }

  /** Ends all requests and connections. A request after that opens new ones. */
  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    await (await opened)?.agent.destroy();
  }

  async #open(): Promise<Opened> {
    const { openAgent, request } = await import("./undici.ts");
    return { request, agent: openAgent((host) => checkedAddresses(host, this.#rules)) };
  }
}

async function* read(
  parts: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  try {
    yield* parts;
  } catch (error) {
    throw failureOf(error, signal);
  }
}

function failureOf(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof ClosedHost || !(error instanceof Error)) return error;
  const code = "code" in error ? error.code : undefined;
  if (code === "UND_ERR_HEADERS_OVERFLOW") {
    return new OutboundFailure("The response's head is too long", false, error);
  }
  if (error.name === "HTTPParserError" || code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH") {
    return new OutboundFailure("The response is not HTTP", false, error);
  }
  const isClosed = code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE";
  const reason = isClosed ? "it was closed without a whole response" : error.message.slice(0, 200);
  return new OutboundFailure(`The connection failed: ${reason}`, true, error);
}
