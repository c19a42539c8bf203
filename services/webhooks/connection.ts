/** Connections to checked addresses. */

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

function closeQuietly(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // It is closed already.
  }
}
