import { Buffer } from "node:buffer";
import { closeQuietly } from "../body_until.ts";
import { type AddressRules, checkedAddresses, ClosedHost } from "./addresses.ts";
import {
  type AnswerHead,
  CutAnswer,
  decoderOf,
  MalformedAnswer,
  readAnswerHead,
} from "./answer.ts";

/** How long one address has to accept a connection, in milliseconds. */
const CONNECT_MILLISECONDS = 5000;

/** Most addresses of a host that a request tries. */
const MAX_ADDRESSES = 4;

/** Most interim answers (RFC 9110, section 15.2) before an answer. */
const MAX_INTERIM = 16;

/** Most bytes of one read. */
const CHUNK_BYTES = 16_384;

const NO_BYTES = new Uint8Array(0);

/** What to ask. */
export interface OutboundRequest {
  /** Without those of the connection and of the length. No part has a line break. */
  readonly headers: Readonly<Record<string, string>>;
  /** Ends the request, the body of its answer included. */
  readonly signal: AbortSignal;
}

/** What to post. */
export interface OutboundPost extends OutboundRequest {
  readonly body: Uint8Array;
}

/** An answer. Read its body to the end, leave the loop over it, or drop it. */
export interface OutboundAnswer {
  readonly status: number;
  /** A header's value, by its name in lower case; the first one of several, null without any. */
  header(name: string): string | null;
  /** The body in parts. Each is valid until the next one is asked for. @throws OutboundFailure */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection. */
  drop(): void;
}

/** Why a request has no whole answer, as a sentence. */
export class OutboundFailure extends Error {
  override readonly name = "OutboundFailure";
  /** Whether the connection failed, so that another attempt may succeed. */
  readonly isPassing: boolean;

  constructor(message: string, isPassing: boolean) {
    super(message);
    this.isPassing = isPassing;
  }
}

/**
 * Asks servers that others name. The host is resolved once for each request, all of its addresses
 * are checked, and the connection goes to one of exactly these. Redirects are not followed. A head of
 * an answer has up to 16 KB; the caller bounds the time by its signal, and the body by reading no
 * further. README.md says why no library does this.
 */
export class OutboundClient {
  readonly #rules: AddressRules;
  /** Which address is tried first, so that no request depends on one that fails in silence. */
  #turn = 0;

  constructor(rules: AddressRules) {
    this.#rules = rules;
  }

  /**
   * Posts a body over a connection of its own.
   *
   * @throws ClosedHost; OutboundFailure; the reason of the signal
   */
  post(url: URL, { body, ...request }: OutboundPost): Promise<OutboundAnswer> {
    return this.#send(url, request, body);
  }

  /**
   * Gets what is at a URL, over a connection of its own.
   *
   * @throws ClosedHost; OutboundFailure; the reason of the signal
   */
  get(url: URL, request: OutboundRequest): Promise<OutboundAnswer> {
    return this.#send(url, request, null);
  }

  async #send(
    url: URL,
    { headers, signal }: OutboundRequest,
    body: Uint8Array | null,
  ): Promise<OutboundAnswer> {
    let connection: Connection | null = null;
    try {
      const addresses = await untilAborted(signal, checkedAddresses(url.hostname, this.#rules));
      connection = await this.#connect(url, addresses, signal);
      connection.send(bytesOf(url, headers, body));
      const { head, rest } = await readHead(connection);
      return answerOf(connection, head, rest);
    } catch (error) {
      connection?.close();
      throw failureOf(error, signal);
    }
  }

  async #connect(
    url: URL,
    addresses: readonly string[],
    signal: AbortSignal,
  ): Promise<Connection> {
    const first = this.#turn++ % addresses.length;
    const inTurn = [...addresses.slice(first), ...addresses.slice(0, first)];
    let failure: unknown;
    for (const address of inTurn.slice(0, MAX_ADDRESSES)) {
      try {
        return new Connection(await connectTo(url, address, signal), signal);
      } catch (error) {
        if (signal.aborted) throw error;
        failure = error;
      }
    }
    throw failure;
  }
}

/** A connection for one request, which closes when the signal aborts. */
class Connection {
  readonly #conn: Deno.Conn;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => this.close();
  readonly #buffer = new Uint8Array(CHUNK_BYTES);

  constructor(conn: Deno.Conn, signal: AbortSignal) {
    this.#conn = conn;
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort);
    if (signal.aborted) this.close();
  }

  get signal(): AbortSignal {
    return this.#signal;
  }

  /** Sends bytes while the answer may come: a server may answer before it has read everything. */
  send(bytes: Uint8Array): void {
    const sending = (async () => {
      for (let sent = 0; sent < bytes.length;) sent += await this.#conn.write(bytes.subarray(sent));
    })();
    // What fails here, fails at the next read too, unless the answer has come.
    sending.catch(() => {});
  }

  /** The next bytes, which are valid until the next call; null at the end. */
  async read(): Promise<Uint8Array<ArrayBuffer> | null> {
    const length = await this.#conn.read(this.#buffer);
    return length === null ? null : this.#buffer.subarray(0, length);
  }

  close(): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    closeQuietly(this.#conn);
  }
}

/** Connects to an address of a URL's host. The name of the host counts for the certificate. */
async function connectTo(url: URL, hostname: string, ended: AbortSignal): Promise<Deno.Conn> {
  const isTls = url.protocol === "https:";
  const port = Number(url.port || (isTls ? 443 : 80));
  const signal = AbortSignal.any([ended, AbortSignal.timeout(CONNECT_MILLISECONDS)]);
  const connecting = Deno.connect({ hostname, port });
  const tcp = await untilAborted(signal, connecting).catch((error) => {
    connecting.then(closeQuietly, () => {});
    throw error;
  });
  if (!isTls) return tcp;
  let conn: Deno.Conn = tcp;
  try {
    const tls = await Deno.startTls(tcp, { hostname: url.hostname.replace(/^\[|\]$/g, "") });
    conn = tls;
    await untilAborted(signal, tls.handshake());
    return tls;
  } catch (error) {
    closeQuietly(conn);
    throw error;
  }
}

/** The request as it goes over the connection (RFC 9112); without a body, it is a GET. */
function bytesOf(
  { host, pathname, search }: URL,
  headers: OutboundRequest["headers"],
  body: Uint8Array | null,
): Uint8Array {
  const lines = Object.entries({
    host,
    ...headers,
    ...body === null ? {} : { "content-length": String(body.length) },
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const method = body === null ? "GET" : "POST";
  return Buffer.concat([
    Buffer.from(`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n`),
    body ?? NO_BYTES,
  ]);
}

/** Reads the head of an answer, and skips interim ones. */
async function readHead(
  connection: Connection,
): Promise<{ readonly head: AnswerHead; readonly rest: Uint8Array<ArrayBuffer> }> {
  let bytes: Uint8Array<ArrayBuffer> = NO_BYTES;
  let interim = 0;
  for (;;) {
    const arrived = await connection.read();
    if (arrived === null) {
      throw new OutboundFailure("The connection was closed without a response", true);
    }
    bytes = Buffer.concat([bytes, arrived]);
    for (;;) {
      const head = readAnswerHead(bytes);
      if (head === null) break;
      bytes = bytes.subarray(head.length);
      if (head.status >= 200) return { head, rest: bytes };
      if (++interim > MAX_INTERIM) throw new MalformedAnswer("The response does not begin");
    }
  }
}

function answerOf(
  connection: Connection,
  { status, headers, body }: AnswerHead,
  rest: Uint8Array<ArrayBuffer>,
): OutboundAnswer {
  const decoder = decoderOf(body);
  async function* parts(): AsyncGenerator<Uint8Array, void> {
    try {
      yield* decoder.decode(rest);
      while (!decoder.isDone) {
        const arrived = await connection.read();
        if (arrived === null) decoder.end();
        else yield* decoder.decode(arrived);
      }
    } catch (error) {
      throw failureOf(error, connection.signal);
    } finally {
      connection.close();
    }
  }
  return {
    status,
    header: (name) => headers.find(([one]) => one === name)?.[1] ?? null,
    body: parts(),
    drop: () => connection.close(),
  };
}

function failureOf(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof ClosedHost || error instanceof OutboundFailure) return error;
  const reason = (error instanceof Error ? error.message : String(error)).slice(0, 200);
  if (error instanceof CutAnswer) return new OutboundFailure(reason, true);
  if (error instanceof MalformedAnswer) return new OutboundFailure(reason, false);
  return new OutboundFailure(`The connection failed: ${reason}`, true);
}

/** Waits for work, or for the signal: then it throws its reason. */
function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", onAbort));
}
