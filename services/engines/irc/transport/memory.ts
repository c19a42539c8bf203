import type { Wire } from "../wire.ts";
import {
  DRAINED_BYTES,
  type Transport,
  type TransportClosed,
  type TransportReceiver,
} from "./transport.ts";

/** The client's end of a connection inside this process. Lines have no CR LF. */
export interface MemoryConnection {
  /**
   * Sends a line. Throws TypeError if it contains a line break or NUL. A closed connection ignores
   * it.
   */
  send(line: string): void;
  /** Called for each line of the server, in order, never while `send` runs. */
  onLine: ((line: string) => void) | null;
  /** Called once, after the last line, with the reason. */
  onClose: ((reason: string) => void) | null;
  close(): void;
  readonly closed: boolean;
}

export interface MemoryTransportOptions {
  /** What stands for an IP address. */
  address: string;
  /** UTF-16 units that may wait without a listener; null for no limit. */
  sendQueueBytes: number | null;
  onClosed: TransportClosed;
  /** Called with what a callback of the client threw. */
  onError(error: unknown): void;
}

/** UTF-16 units passed on at once, so that they fit every receive queue. */
const CHUNK_UNITS = 2048;

const FORBIDDEN = /[\0\r\n]/;
const encoder = new TextEncoder();

/** A client in this process. Each direction is a queue, emptied in a later microtask. */
export class MemoryTransport implements Transport {
  readonly address: string;
  readonly secure = true;
  readonly internal = true;
  readonly kind = "internal";
  readonly connection: MemoryConnection;

  readonly #client: ClientEnd;
  #receiver: TransportReceiver | null = null;
  #lines: string[] = [];
  #receiving = false;

  constructor(options: MemoryTransportOptions) {
    this.address = options.address;
    this.#client = new ClientEnd(options, {
      send: (line) => this.#take(line),
      disconnected: (reason) => this.#receiver?.disconnected(reason),
      finished: () => options.onClosed(this),
    });
    this.connection = this.#client;
  }

  get queuedBytes(): number {
    return this.#client.waiting;
  }

  /** Starts passing on what the client sends. */
  start(receiver: TransportReceiver): void {
    this.#receiver = receiver;
  }

  send(wire: Wire): void {
    this.#client.queue(wire.lines);
  }

  drained(): Promise<void> | null {
    return this.#client.drained();
  }

  end(): void {
    this.#client.close();
  }

  #take(line: string): void {
    this.#lines.push(line);
    if (this.#receiving) return;
    this.#receiving = true;
    queueMicrotask(() => this.#passOn());
  }

  async #passOn(): Promise<void> {
    while (this.#lines.length > 0 && !this.#client.closed) {
      const lines = this.#lines;
      this.#lines = [];
      for (const chunk of chunksOf(lines)) {
        const busy = this.#receiver?.receive(encoder.encode(chunk));
        if (busy) await busy;
      }
    }
    this.#receiving = false;
  }
}

/** Joins as many lines as every receive queue has room for; a longer line stays alone. */
function* chunksOf(lines: readonly string[]): Generator<string> {
  let chunk = "";
  for (const line of lines) {
    if (chunk !== "" && chunk.length + line.length > CHUNK_UNITS) {
      yield chunk;
      chunk = "";
    }
    chunk += `${line}\n`;
  }
  yield chunk;
}

interface ServerEnd {
  send(line: string): void;
  disconnected(reason: string): void;
  finished(): void;
}

class ClientEnd implements MemoryConnection {
  onClose: ((reason: string) => void) | null = null;

  readonly #options: MemoryTransportOptions;
  readonly #server: ServerEnd;
  #onLine: ((line: string) => void) | null = null;
  #lines: string[] = [];
  #waiting = 0;
  #scheduled = false;
  #drained: PromiseWithResolvers<void> | null = null;
  #closeReason: string | null = null;

  constructor(options: MemoryTransportOptions, server: ServerEnd) {
    this.#options = options;
    this.#server = server;
  }

  get closed(): boolean {
    return this.#closeReason !== null;
  }

  /** UTF-16 units that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  get onLine(): ((line: string) => void) | null {
    return this.#onLine;
  }

  set onLine(callback: ((line: string) => void) | null) {
    this.#onLine = callback;
    if (callback && this.#lines.length > 0) this.#schedule();
  }

  send(line: string): void {
    if (FORBIDDEN.test(line)) {
      throw new TypeError("Cannot send a line that contains a line break or NUL");
    }
    if (!this.closed) this.#server.send(line);
  }

  close(): void {
    this.#disconnect("Connection closed");
  }

  drained(): Promise<void> | null {
    if (this.#waiting <= DRAINED_BYTES || this.closed) return null;
    this.#drained ??= Promise.withResolvers();
    return this.#drained.promise;
  }

  /** Receives lines from the server. */
  queue(lines: readonly string[]): void {
    if (this.closed) return;
    for (const line of lines) {
      this.#lines.push(line);
      this.#waiting += line.length;
    }
    if (this.#waiting > (this.#options.sendQueueBytes ?? Infinity)) {
      // Deferred, because announcing the end to others may end their connections in turn.
      this.#lines = [];
      queueMicrotask(() => this.#disconnect("SendQ exceeded"));
    } else if (this.#onLine) {
      this.#schedule();
    }
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => this.#deliver());
  }

  #deliver(): void {
    this.#scheduled = false;
    const lines = this.#lines;
    this.#lines = [];
    let next = 0;
    while (next < lines.length && this.#onLine) {
      const line = lines[next++] as string;
      this.#waiting -= line.length;
      this.#call(this.#onLine, line);
    }
    if (next < lines.length) this.#lines = lines.slice(next).concat(this.#lines);
    if (this.#waiting <= DRAINED_BYTES || this.closed) {
      this.#drained?.resolve();
      this.#drained = null;
    }
    if (this.#closeReason !== null) this.#finish(this.#closeReason);
  }

  #disconnect(reason: string): void {
    if (this.closed) return;
    this.#closeReason = reason;
    this.#schedule();
    this.#server.disconnected(reason);
  }

  #finish(reason: string): void {
    if (this.onClose) this.#call(this.onClose, reason);
    this.#server.finished();
  }

  #call(callback: (text: string) => void, text: string): void {
    try {
      callback(text);
    } catch (error) {
      this.#options.onError(error);
    }
  }
}
