import type { Wire } from "../wire.ts";
import {
  DRAINED_BYTES,
  SEND_QUEUE_EXCEEDED,
  type Transport,
  type TransportClosed,
  type TransportReceiver,
} from "./transport.ts";

/** How often a slow client's send buffer is checked. */
const DRAIN_CHECK_MILLISECONDS = 10;

/** How long a client may take to confirm the closing of the connection. */
const CLOSING_MILLISECONDS = 1000;

const encoder = new TextEncoder();

export interface WebSocketTransportOptions {
  /** IP address of the client. */
  address: string;
  secure: boolean;
  /** Whether lines are sent as binary messages (`binary.ircv3.net`), else as text. */
  binary: boolean;
  /** A longer message ends the connection. */
  messageBytes: number;
  /** Bytes that may be queued, or null for no limit. */
  sendQueueBytes: number | null;
  onClosed: TransportClosed;
}

/**
 * A client over an open WebSocket: one line in each message, without CR LF (IRCv3 "websocket").
 *
 * The runtime queues outgoing messages, and delivers incoming ones whole and without back-pressure.
 * So what a client sends before its turn counts against its receive queue.
 */
export class WebSocketTransport implements Transport {
  readonly address: string;
  readonly secure: boolean;
  readonly internal = false;
  readonly kind = "websocket";

  readonly #socket: WebSocket;
  readonly #options: WebSocketTransportOptions;
  #receiver: TransportReceiver | null = null;
  #ending = false;
  #closed = false;
  #drained: PromiseWithResolvers<void> | null = null;
  #drainCheck: ReturnType<typeof setInterval> | undefined;
  #deadline: ReturnType<typeof setTimeout> | undefined;

  constructor(socket: WebSocket, options: WebSocketTransportOptions) {
    this.#socket = socket;
    this.#options = options;
    this.address = options.address;
    this.secure = options.secure;
    socket.onclose = () => this.#close("Connection closed");
  }

  get queuedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Starts passing on what the client sends. */
  start(receiver: TransportReceiver): void {
    this.#receiver = receiver;
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onmessage = ({ data }) => this.#receive(data);
  }

  send(wire: Wire): void {
    if (this.#ending) return;
    for (const line of wire.lines) {
      this.#socket.send(this.#options.binary ? encoder.encode(line) : line);
    }
    if (this.#socket.bufferedAmount > (this.#options.sendQueueBytes ?? Infinity)) {
      this.#cut(SEND_QUEUE_EXCEEDED);
    }
  }

  drained(): Promise<void> | null {
    if (this.#isDrained()) return null;
    this.#drained ??= Promise.withResolvers();
    this.#drainCheck ??= setInterval(() => {
      if (this.#isDrained()) this.#resolveDrained();
    }, DRAIN_CHECK_MILLISECONDS);
    return this.#drained.promise;
  }

  end(): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#socket.close(1000);
    this.#deadline = setTimeout(() => this.#close("Connection closed"), CLOSING_MILLISECONDS);
  }

  #receive(data: string | ArrayBuffer): void {
    if (this.#ending) return;
    const bytes = typeof data === "string" ? data.length : data.byteLength;
    if (bytes > this.#options.messageBytes) return this.#cut("Message too long");
    const line = typeof data === "string" ? encoder.encode(data) : new Uint8Array(data);
    const withBreak = new Uint8Array(line.length + 1);
    withBreak.set(line);
    withBreak[line.length] = 0x0a;
    // As late as bytes from a stream, so that messages keep their order across transports.
    queueMicrotask(() => {
      if (!this.#ending) this.#receiver?.receive(withBreak);
    });
  }

  /**
   * Ends a client that exceeds its limits. Deferred, because announcing the end to others may end
   * their connections in turn.
   */
  #cut(reason: string): void {
    this.end();
    queueMicrotask(() => this.#receiver?.disconnected(reason));
  }

  #isDrained(): boolean {
    return this.#ending || this.#socket.bufferedAmount <= DRAINED_BYTES;
  }

  #resolveDrained(): void {
    clearInterval(this.#drainCheck);
    this.#drainCheck = undefined;
    this.#drained?.resolve();
    this.#drained = null;
  }

  #close(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#ending = true;
    clearTimeout(this.#deadline);
    this.#resolveDrained();
    this.#receiver?.disconnected(reason);
    this.#options.onClosed(this);
  }
}
