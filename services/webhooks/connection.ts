/** Connections to checked addresses. */
import { Buffer } from "node:buffer";
import { closeQuietly } from "../close_quietly.ts";

/** A connection that closes at the end of the request or of its time limit. */
export class Connection implements Disposable {
  conn: Deno.Conn;
  readonly #signal: AbortSignal;
  readonly #close = () => closeQuietly(this.conn);

  constructor(conn: Deno.Conn, signal: AbortSignal) {
    this.conn = conn;
    this.#signal = signal;
    signal.addEventListener("abort", this.#close);
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener("abort", this.#close);
    this.#close();
  }
}

/**
 * Connects to an address of a URL's host. The name of the host counts for the certificate.
 *
 * @param hostname the address
 * @param signal closes the connection when it is aborted
 */
export async function connect(
  url: URL,
  hostname: string,
  signal: AbortSignal,
): Promise<Connection> {
  const isTls = url.protocol === "https:";
  const port = Number(url.port || (isTls ? 443 : 80));
  const connecting = Deno.connect({ hostname, port });
  const tcp = await untilEnded(signal, connecting).catch((error) => {
    connecting.then(closeQuietly, () => {});
    throw error;
  });
  const connection = new Connection(tcp, signal);
  if (!isTls) return connection;
  try {
    const name = url.hostname.replace(/^\[|\]$/g, "");
    const tls = await Deno.startTls(tcp, { hostname: name });
    connection.conn = tls;
    await untilEnded(signal, tls.handshake());
    return connection;
  } catch (error) {
    connection[Symbol.dispose]();
    throw error;
  }
}

/** What {@linkcode postRequest} writes. */
export interface PostRequest {
  readonly version: "1.0" | "1.1";
  readonly host: string;
  /** The path, and the query if there is one. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** A request to post a body, after which the connection ends. */
export function postRequest({ version, host, target, headers, body }: PostRequest): Uint8Array {
  const lines = Object.entries({
    host,
    ...headers,
    "content-length": String(body.length),
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${target} HTTP/${version}\r\n${lines.join("")}\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

/** Writes all of some bytes. */
export async function sendAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.byteLength;) sent += await conn.write(bytes.subarray(sent));
}

/** Waits for work, or for the signal: then it throws its reason. */
export function untilEnded<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", onAbort));
}
