/**
 * TCP read by hand: what a load client does per received byte is the floor of what it can drive.
 */

/** What a connection starts with; thousands of idle ones cost little. */
const FIRST_BUFFER_BYTES = 2 * 1024;

/** Until here the buffer of a busy connection doubles, so that one read takes many lines. */
const LAST_BUFFER_BYTES = 64 * 1024;

const LF = 0x0a;
const CR = 0x0d;

const encoder = new TextEncoder();

/**
 * Looks at the first `length` bytes and gives the number of those it is done with; the rest comes
 * again with what follows it. The bytes must not be kept.
 */
export type Consumer = (bytes: Uint8Array, length: number) => number;

/** Cuts into lines; `take` gets each without its LF or CR LF, where it lies. */
export function linesConsumer(
  take: (bytes: Uint8Array, start: number, end: number) => void,
): Consumer {
  return (bytes, length) => {
    let start = 0;
    for (;;) {
      const end = bytes.indexOf(LF, start);
      if (end === -1 || end >= length) return start;
      take(bytes, start, end > start && bytes[end - 1] === CR ? end - 1 : end);
      start = end + 1;
    }
  };
}

/** What a connection tells its owner. */
export interface ConnectionOwner {
  /** Asked anew for every read, so that an owner can change how it reads. */
  readonly consumer: Consumer;
  /** The connection is over, for whatever reason; called once. */
  closed(reason: string): void;
}

/** A TCP connection of a load client. */
export class Connection {
  readonly #conn: Deno.Conn;
  readonly #owner: ConnectionOwner;
  #closed = false;

  private constructor(conn: Deno.Conn, owner: ConnectionOwner) {
    this.#conn = conn;
    this.#owner = owner;
  }

  /** @throws the runtime's error if nobody listens */
  static async open(address: Address, owner: ConnectionOwner): Promise<Connection> {
    const conn = await Deno.connect(address);
    conn.setNoDelay(true);
    const connection = new Connection(conn, owner);
    connection.#read();
    return connection;
  }

  /** Sends text; one call at a time. */
  async write(text: string): Promise<void> {
    const bytes = encoder.encode(text);
    for (let sent = 0; sent < bytes.length;) {
      sent += await this.#conn.write(bytes.subarray(sent));
    }
  }

  close(): void {
    this.#end("Closed by the client");
  }

  async #read(): Promise<void> {
    let buffer = new Uint8Array(FIRST_BUFFER_BYTES);
    let kept = 0;
    try {
      for (;;) {
        const count = await this.#conn.read(buffer.subarray(kept));
        if (count === null) return this.#end("Closed by the server");
        const length = kept + count;
        const consumed = this.#owner.consumer(buffer, length);
        kept = length - consumed;
        const next = length < buffer.length ? buffer : grown(buffer);
        if (kept > 0) next.set(buffer.subarray(consumed, length));
        buffer = next;
        if (kept === buffer.length) return this.#end("The server sent a line without end");
      }
    } catch (error) {
      this.#end(error instanceof Error ? error.message : String(error));
    }
  }

  #end(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    try {
      this.#conn.close();
    } catch {
      // The runtime closed it already.
    }
    this.#owner.closed(reason);
  }
}

/** The address of a server. */
export interface Address {
  readonly hostname: string;
  readonly port: number;
}

/** A buffer of twice the size, or the same one at the limit. */
function grown(buffer: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return buffer.length < LAST_BUFFER_BYTES ? new Uint8Array(buffer.length * 2) : buffer;
}
