/** A transport to a client, such as TCP, TLS or memory. */

import type { Wire } from "../wire.ts";

/** The transport of a client; `none` for a user without a connection. */
export type TransportKind = "tcp" | "tls" | "websocket" | "internal" | "none";

/** The server's side of a client's connection. */
export interface Transport {
  /** IP address of the client, or a name for a client without one. */
  readonly address: string;
  /** Whether the connection is encrypted or local. */
  readonly secure: boolean;
  /** Whether the client is part of this process. */
  readonly internal: boolean;
  /** The kind of transport, for lists of clients. */
  readonly kind: TransportKind;
  /** Bytes that wait to be sent; of clients in this process UTF-16 units. */
  readonly queuedBytes: number;
  /**
   * Queues lines and returns at once. Does nothing after {@linkcode end}, or once the send queue is
   * over its limit.
   */
  send(wire: Wire): void;
  /**
   * Null while little is queued; otherwise a promise that resolves when little is left, or the
   * connection ends. Producers of long answers wait for it, so that they do not fill the queue.
   */
  drained(): Promise<void> | null;
  /** Sends the queue and closes; drops what is not sent in time. */
  end(): void;
}

/** Queued bytes up to which a transport counts as drained. */
export const DRAINED_BYTES = 128 * 1024;

/** The quit reason of a client that did not read what was sent to it. */
export const SEND_QUEUE_EXCEEDED = "SendQ exceeded";

/** Called once by a transport when it has ended completely. */
export type TransportClosed = (transport: Transport) => void;

/** The server's interface for a transport. */
export interface TransportReceiver {
  /**
   * Handles bytes from the client. If it returns a promise, the server is busy: read nothing more
   * until it resolves.
   */
  receive(chunk: Uint8Array): void | Promise<void>;
  /** Called at most once, when the client is gone, with the reason for other users. */
  disconnected(reason: string): void;
}
