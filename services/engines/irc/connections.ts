import { Admission, type Refusal } from "./admission/admission.ts";
import { addressNetwork } from "./protocol/addresses.ts";
import { ClientConnection, RECEIVED_TAG_BYTES } from "./connection.ts";
import { ERR_YOUREBANNEDCREEP } from "./protocol/numerics.ts";
import type { ServerState } from "./state.ts";
import type { IrcStats } from "./stats.ts";
import type { AcceptedStream } from "./transport/listeners.ts";
import { StreamTransport } from "./transport/stream.ts";
import type { Transport } from "./transport/transport.ts";
import { WebSocketTransport } from "./transport/websocket.ts";
import type { OpenedWebSocket } from "./transport/websocket_listener.ts";
import type { Client } from "./members.ts";

/**
 * How often clients are checked for time limits: at multiples of this by Unix time, so that other
 * regular work of the program falls into the same moments, and an idle program sleeps in between.
 */
const SWEEP_MILLISECONDS = 1000;

/** The open connections of a server: who is let in, who makes room, and who is gone. */
export class ClientConnections {
  readonly #state: ServerState;
  /** Every open transport; those that were refused and direct ones have no connection. */
  readonly #open = new Map<Transport, ClientConnection | null>();
  readonly #admission: Admission;
  /** Connections that may not be registered yet, the oldest first. */
  readonly #newcomers = new Set<ClientConnection>();
  /** Those of the open transports that make room, or were refused: each closes in a moment. */
  readonly #leaving = new Set<Transport>();
  #sweeper: ReturnType<typeof setTimeout> | undefined;
  #isClosing = false;
  /** Resolves when the last transport is closed; null until somebody waits for that. */
  #empty: PromiseWithResolvers<void> | null = null;
  /** For a transport that is closed. */
  readonly onClosed = (transport: Transport): void => this.#forget(transport);

  constructor(state: ServerState) {
    this.#state = state;
    this.#admission = new Admission(state);
  }

  /** How many were refused, by the kind of the refusal. */
  get refused(): IrcStats["refused"] {
    return this.#admission.refused;
  }

  /** Adds the connection of a client. Start the transport with it. */
  add(transport: Transport, privileged: boolean): ClientConnection {
    const connection = new ClientConnection(this.#state, transport, privileged);
    this.#open.set(transport, connection);
    this.#state.clients.add(connection.client);
    if (this.#sweeper === undefined) this.#sweepLater();
    return connection;
  }

  /** Adds the transport of a client that writes and parses no lines. */
  addDirect(transport: Transport): void {
    this.#open.set(transport, null);
  }

  /** Lets a client in that has connected over TCP or TLS, or refuses it. */
  admitStream({ conn, ...stream }: AcceptedStream): void {
    const { sendQueueBytes } = this.#state.limits;
    const options = { ...stream, sendQueueBytes, onClosed: this.onClosed };
    this.#enter(new StreamTransport(conn, options));
  }

  /** The same over WebSocket. */
  admitWebSocket({ socket, address, binary, secure }: OpenedWebSocket): void {
    if (this.#isClosing) return socket.close();
    const { lineBytes, sendQueueBytes } = this.#state.limits;
    const transport = new WebSocketTransport(socket, {
      address,
      binary,
      secure,
      sendQueueBytes,
      messageBytes: lineBytes + RECEIVED_TAG_BYTES,
      onClosed: this.onClosed,
    });
    this.#enter(transport);
  }

  /** Closes unregistered connections as long as there are more than the limit. */
  shrink(): void {
    const most = this.#state.limits.connections ?? Infinity;
    for (let beyond = this.#staying - most; beyond > 0 && this.#makeRoom(null);) beyond--;
  }

  /** Lets no WebSocket in any more, and no longer checks for time limits. */
  close(): void {
    this.#isClosing = true;
    clearTimeout(this.#sweeper);
  }

  /** Resolves when no transport is open. Call it once no other can open. */
  whenEmpty(): Promise<void> {
    this.#empty ??= Promise.withResolvers();
    if (this.#open.size === 0) this.#empty.resolve();
    return this.#empty.promise;
  }

  /** How many transports are open and not about to close. */
  get #staying(): number {
    return this.#open.size - this.#leaving.size;
  }

  /** Accepts a new connection, or closes it at once if there are too many. */
  #enter(transport: StreamTransport | WebSocketTransport): void {
    const refusal = this.#admission.enter(
      transport.address,
      this.#staying,
      (network) => this.#makeRoom(network),
    );
    if (refusal !== null) return this.#refuse(transport, refusal);
    const connection = this.add(transport, false);
    this.#newcomers.add(connection);
    transport.start(connection);
  }

  /** Closes the oldest unregistered connection, of a network or of all; false if there is none. */
  #makeRoom(network: string | null): boolean {
    for (const connection of this.#newcomers) {
      const { client } = connection;
      const isGone = client.registered || client.quitReason !== null;
      if (isGone) this.#newcomers.delete(connection);
      if (isGone || (network !== null && !isFrom(client, network))) continue;
      this.#newcomers.delete(connection);
      this.#state.counters.displaced++;
      this.#leaving.add(client.transport);
      this.#state.disconnect(client, "Too many connections");
      return true;
    }
    return false;
  }

  #refuse(transport: Transport, { kind, reason }: Refusal): void {
    if (kind === "ban") {
      this.#state.counters.banHits++;
      const content = { params: ["*"], text: reason };
      const { code } = ERR_YOUREBANNEDCREEP;
      transport.send(this.#state.messageFromServer(code, content).wire(0));
    }
    const message = this.#state.bareMessage("ERROR", { params: [], text: reason });
    transport.send(message.wire(0));
    this.#open.set(transport, null);
    this.#leaving.add(transport);
    transport.end();
  }

  #forget(transport: Transport): void {
    const connection = this.#open.get(transport);
    if (connection) this.#newcomers.delete(connection);
    this.#open.delete(transport);
    this.#leaving.delete(transport);
    if (!transport.internal) this.#admission.leave(transport.address);
    if (this.#open.size === 0) this.#empty?.resolve();
  }

  #sweepLater(): void {
    this.#sweeper = setTimeout(() => {
      this.#sweepLater();
      this.#sweep();
    }, SWEEP_MILLISECONDS - Date.now() % SWEEP_MILLISECONDS);
  }

  #sweep(): void {
    for (const connection of this.#open.values()) connection?.checkTime();
  }
}

function isFrom({ transport }: Client, network: string): boolean {
  return addressNetwork(transport.address) === network;
}
