/** A transport to a client, such as TCP, TLS or memory. */

import type { Wire } from "../outbound.ts";

/** A way to reach a client; `none` for a user without a connection. */
export type TransportKind = "tcp" | "tls" | "websocket" | "internal" | "none";

/** One client's connection, seen from the server. */
export interface Transport {
  /** IP address of the client, or a name for what has none. */
  readonly address: string;
  /** Whether nobody between can read along. */
  readonly secure: boolean;
  /** Whether the client is part of this process. */
  readonly internal: boolean;
  /** What it is, for those who list the clients. */
  readonly kind: TransportKind;
  /** Bytes that wait to be sent; of clients in this process UTF-16 units. */
  readonly queuedBytes: number;
  /**
   * Queues lines and returns at once, whatever the client does with them. After {@linkcode end},
   * and once the send queue is over its limit, nothing.
   */
  send(wire: Wire): void;
  /**
   * Null while little is queued; else a promise that resolves when little is left, or none of it
   * will be sent. Who produces much waits for it, so that one long answer does not fill the queue.
   */
  drained(): Promise<void> | null;
  /** Sends the queue and closes; drops whatever is not sent soon. */
  end(): void;
}

/** Queued bytes up to which a transport counts as drained. */
export const DRAINED_BYTES = 128 * 1024;

/** Why a client is gone that did not read what was sent to it. */
export const SEND_QUEUE_EXCEEDED = "SendQ exceeded";

/** Called once by a transport when all is over, and nothing of it is left. */
export type TransportClosed = (transport: Transport) => void;

/** The server's interface for a transport. */
export interface TransportReceiver {
  /**
   * Takes bytes from the client. A promise says that the server is busy with what it got: nothing
   * more should be read until it resolves.
   */
  receive(chunk: Uint8Array): void | Promise<void>;
  /** The client is gone, with the reason for other users. Called at most once. */
  disconnected(reason: string): void;
}
