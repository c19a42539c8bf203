import { Buffer } from "node:buffer";
import { Connection, NoAnswer, type RawAnswer } from "./connection.ts";

/** How long an idle connection is kept, in milliseconds; a node closes its own end later. */
const IDLE = 4000;

/** Most idle connections to one node. */
const MAX_IDLE = 256;

/**
 * How long a request waits before its client's signal counts, in milliseconds; at most twice as long.
 * To listen costs more than the request itself, and most answers come before.
 */
const PATIENCE = 50;

const encoder = new TextEncoder();

/** A request in one piece. */
export interface WholeRequest {
  readonly method: string;
  /** The path with its query, of printable ASCII. */
  readonly target: string;
  /** Without those of the connection. No part has a line break. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array | null;
  /** Its signal ends this request. */
  readonly client: Pick<Request, "signal"> | undefined;
}

/** A request without an answer. */
interface Waiting {
  /** Undefined once it is answered: nothing of it stays in memory then. */
  client: WholeRequest["client"];
  /** Gives it up. */
  leave: () => void;
}

/** The connections to one node. */
export class Connections {
  /** Of the node. */
  readonly url: string;
  readonly #url: URL;
  readonly #open = new Set<Connection>();
  /** The one that was used last is at the end. */
  readonly #idle: { readonly connection: Connection; readonly since: number }[] = [];
  /** Those whose connection is being opened. */
  readonly #connecting = new Set<Waiting>();
  #recent: Waiting[] = [];
  #older: Waiting[] = [];
  #patience: ReturnType<typeof setTimeout> | undefined;
  #sweeping: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** @param url of the node */
  constructor(url: string) {
    this.url = url;
    this.#url = new URL(url);
  }

  /**
   * Sends a request.
   *
   * @returns null if a connection ended before it was answered, and it may be sent again
   * @throws Error if it cannot be sent, or no answer of HTTP comes
   */
  async send(request: WholeRequest): Promise<RawAnswer | null> {
    const { method, client } = request;
    const waiting: Waiting = { client, leave: ignore };
    if (client !== undefined) this.#wait(waiting);
    try {
      const connection = this.#idle.pop()?.connection ?? await this.#connect(waiting);
      const { isUsed } = connection;
      waiting.leave = () => connection.close();
      return await connection.exchange(method, bytesOf(request)).catch((error) => {
        const isSafe = method === "GET" || method === "HEAD";
        if (error instanceof NoAnswer && isUsed && isSafe && !this.#isClosed) return null;
        throw error;
      });
    } finally {
      waiting.client = undefined;
      waiting.leave = ignore;
    }
  }

  /** Closes all connections; requests that are under way fail. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#patience);
    clearTimeout(this.#sweeping);
    for (const connection of this.#open) connection.close();
    for (const { leave } of this.#connecting) leave();
  }

  #connect(waiting: Waiting): Promise<Connection> {
    return new Promise((resolve, reject) => {
      let isAwaited = true;
      waiting.leave = () => {
        isAwaited = false;
        reject(new Error("Nobody waits for the connection any more"));
      };
      this.#connecting.add(waiting);
      this.#dial().then((conn) => isAwaited ? resolve(this.#add(conn)) : conn.close(), reject)
        .finally(() => this.#connecting.delete(waiting));
    });
  }

  async #dial(): Promise<Deno.TcpConn | Deno.TlsConn> {
    const { protocol, hostname, port } = this.#url;
    const isTls = protocol === "https:";
    const address = {
      // Without the brackets of an IPv6 address.
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || (isTls ? 443 : 80)),
    };
    if (isTls) return await dialTls(address);
    const conn = await Deno.connect(address);
    conn.setNoDelay(true);
    return conn;
  }

  #add(conn: Deno.Conn): Connection {
    const connection = new Connection({
      conn,
      onIdle: (connection) => this.#keep(connection),
      onClosed: (connection) => this.#forget(connection),
    });
    this.#open.add(connection);
    if (this.#isClosed) connection.close();
    return connection;
  }

  #keep(connection: Connection): void {
    if (this.#isClosed || this.#idle.length >= MAX_IDLE) return connection.close();
    this.#idle.push({ connection, since: performance.now() });
    this.#sweeping ??= this.#sweepLater();
  }

  #forget(connection: Connection): void {
    this.#open.delete(connection);
    const at = this.#idle.findIndex((idle) => idle.connection === connection);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  #sweepLater(): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => this.#sweep(), IDLE / 4);
    Deno.unrefTimer(timer);
    return timer;
  }

  #sweep(): void {
    const longest = performance.now() - IDLE;
    for (const { connection, since } of [...this.#idle]) {
      if (since < longest) connection.close();
    }
    this.#sweeping = this.#idle.length === 0 ? undefined : this.#sweepLater();
  }

  #wait(waiting: Waiting): void {
    this.#recent.push(waiting);
    this.#patience ??= setTimeout(() => this.#listen(), PATIENCE);
  }

  /** Listens to the signals of those who have waited for some time. */
  #listen(): void {
    for (const waiting of this.#older) {
      const { signal } = waiting.client ?? {};
      if (signal?.aborted) waiting.leave();
      else signal?.addEventListener("abort", () => waiting.leave());
    }
    this.#older = this.#recent;
    this.#recent = [];
    const waits = this.#older.length > 0;
    this.#patience = waits ? setTimeout(() => this.#listen(), PATIENCE) : undefined;
  }
}

function ignore(): void {}

/** @throws Error that says what is wrong with a certificate, which reading would not */
async function dialTls(
  address: { readonly hostname: string; readonly port: number },
): Promise<Deno.TlsConn> {
  const conn = await Deno.connectTls({ ...address, alpnProtocols: ["http/1.1"] });
  try {
    await conn.handshake();
    return conn;
  } catch (error) {
    conn.close();
    throw error;
  }
}

/** The request as it goes over a connection (RFC 9112). */
function bytesOf({ method, target, headers, body }: WholeRequest): Uint8Array {
  let head = `${method} ${target} HTTP/1.1\r\n`;
  for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
  head += "\r\n";
  const bytes = new Uint8Array(head.length + (body?.length ?? 0));
  const { read, written } = encoder.encodeInto(head, bytes);
  if (body !== null) bytes.set(body, head.length);
  // Values are bytes, which the encoder writes as they are if they are ASCII.
  if (read !== written || read !== head.length) bytes.set(Buffer.from(head, "latin1"));
  return bytes;
}
