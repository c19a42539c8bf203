import { type Wire, WireQueue } from "../wire.ts";
import {
  DRAINED_BYTES,
  SEND_QUEUE_EXCEEDED,
  type Transport,
  type TransportClosed,
  type TransportReceiver,
} from "./transport.ts";

/** Small, because every idle connection holds one; a long line takes several reads. */
const READ_BUFFER_BYTES = 2048;

/** How long a closing connection may take to accept what is still queued for it. */
const CLOSING_MILLISECONDS = 1000;

export interface StreamTransportOptions {
  secure: boolean;
  /** IP address of the client, if it is not that of the connection. */
  address?: string | undefined;
  /** Bytes that were already read from the connection. */
  received?: Uint8Array<ArrayBuffer> | undefined;
  /** Bytes that may be queued, or null for no limit. */
  sendQueueBytes: number | null;
  onClosed: TransportClosed;
}

/**
 * A client over TCP or TLS.
 *
 * Reads into one small buffer of its own. Outgoing lines go into one queue, which grows during a
 * write; the next write takes all of it. So the number of writes adapts to the client's speed.
 */
export class StreamTransport implements Transport {
  readonly address: string;
  readonly secure: boolean;
  readonly internal = false;

  readonly #conn: Deno.Conn;
  readonly #sendQueueBytes: number;
  readonly #onClosed: TransportClosed;
  #receiver: TransportReceiver | null = null;
  #received: Uint8Array<ArrayBuffer> | null;
  readonly #queue = new WireQueue();
  /** Bytes of the write under way. */
  #writingBytes = 0;
  #writing = false;
  #ending = false;
  #closed = false;
  #drained: PromiseWithResolvers<void> | null = null;
  #deadline: ReturnType<typeof setTimeout> | undefined;

  constructor(conn: Deno.Conn, options: StreamTransportOptions) {
    this.#conn = conn;
    const { remoteAddr } = conn;
    this.address = options.address ??
      (remoteAddr.transport === "tcp" ? remoteAddr.hostname : "localhost");
    this.#received = options.received ?? null;
    this.secure = options.secure;
    this.#sendQueueBytes = options.sendQueueBytes ?? Infinity;
    this.#onClosed = options.onClosed;
  }

  get kind(): "tcp" | "tls" {
    return this.secure ? "tls" : "tcp";
  }

  get queuedBytes(): number {
    return this.#queue.byteLength + this.#writingBytes;
  }

  /** Begins to read. */
  start(receiver: TransportReceiver): void {
    this.#receiver = receiver;
    this.#read(receiver);
  }

  send(wire: Wire): void {
    if (this.#ending) return;
    this.#queue.add(wire);
    if (this.queuedBytes > this.#sendQueueBytes) {
      // Deferred, because announcing the end to others may end their connections in turn.
      this.#ending = true;
      this.#queue.clear();
      queueMicrotask(() => this.#close(SEND_QUEUE_EXCEEDED));
      return;
    }
    if (!this.#writing) this.#startWriting();
  }

  drained(): Promise<void> | null {
    if (this.queuedBytes <= DRAINED_BYTES || this.#ending) return null;
    this.#drained ??= Promise.withResolvers();
    return this.#drained.promise;
  }

  end(): void {
    if (this.#ending) return;
    this.#ending = true;
    if (!this.#writing) this.#close("Connection closed");
    else this.#deadline = setTimeout(() => this.#close("Connection closed"), CLOSING_MILLISECONDS);
  }

  async #read(receiver: TransportReceiver): Promise<void> {
    const buffer = new Uint8Array(READ_BUFFER_BYTES);
    try {
      const received = this.#received;
      this.#received = null;
      if (received !== null && received.length > 0) await receiver.receive(received);
      for (;;) {
        const count = await this.#conn.read(buffer);
        if (count === null) return this.#close("Connection closed");
        if (this.#ending) continue;
        const busy = receiver.receive(buffer.subarray(0, count));
        if (busy) await busy;
      }
    } catch (error) {
      this.#close(describeError(error));
    }
  }

  /**
   * The first write runs after the current task, with everything that the task queued, and after what
   * the task left for its end: the history has a message before its sender sees it.
   */
  #startWriting(): void {
    this.#writing = true;
    queueMicrotask(() => queueMicrotask(() => this.#write()));
  }

  async #write(): Promise<void> {
    try {
      while (!this.#queue.isEmpty && !this.#closed) {
        const bytes = this.#queue.take();
        this.#writingBytes = bytes.length;
        for (let sent = 0; sent < bytes.length;) {
          sent += await this.#conn.write(sent === 0 ? bytes : bytes.subarray(sent));
        }
        this.#writingBytes = 0;
        if (this.queuedBytes <= DRAINED_BYTES) this.#resolveDrained();
      }
    } catch (error) {
      this.#close(describeError(error));
    }
    this.#writing = false;
    if (this.#ending) this.#close("Connection closed");
  }

  #resolveDrained(): void {
    this.#drained?.resolve();
    this.#drained = null;
  }

  #close(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#ending = true;
    this.#queue.clear();
    clearTimeout(this.#deadline);
    this.#resolveDrained();
    try {
      this.#conn.close();
    } catch {
      // The runtime has already closed it.
    }
    this.#receiver?.disconnected(reason);
    this.#onClosed(this);
  }
}

function describeError(error: unknown): string {
  if (error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe) {
    return "Connection reset by peer";
  }
  if (error instanceof Deno.errors.TimedOut) return "Connection timed out";
  return "Connection closed";
}
