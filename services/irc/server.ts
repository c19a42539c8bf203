import { Admission, type Refusal } from "./admission.ts";
import { type Bans, enforceBan } from "./bans.ts";
import { ChannelControl } from "./channel_control.ts";
import { Connection, RECEIVED_TAG_BYTES } from "./connection.ts";
import type { IrcServerOptions } from "./options.ts";
import { ERR_YOUREBANNEDCREEP } from "./numerics.ts";
import { isSameAccount } from "./registration.ts";
import { type Service, ServiceUser } from "./service.ts";
import { ServerState } from "./state.ts";
import type { Transport } from "./transport.ts";
import { type ConnectedClient, connectedClients, type IrcStats, statsOf } from "./stats.ts";
import { type MemoryConnection, MemoryTransport } from "./transport_memory.ts";
import { StreamTransport } from "./transport_stream.ts";
import { WebSocketTransport } from "./transport_websocket.ts";
import { addVirtualUser, User, type UserIdentity } from "./user.ts";
import {
  type OpenedWebSocket,
  WebSocketListener,
  type WebSocketListenOptions,
} from "./websocket_listener.ts";

/** How often it is looked for clients that take too long. */
const SWEEP_MILLISECONDS = 1000;

/** How long accepting pauses after a failure, such as too many open files. */
const ACCEPT_PAUSE_MILLISECONDS = 100;

export interface ListenOptions {
  hostname: string;
  /** 0 takes a free one. */
  port: number;
  /** Certificate chain and key in PEM; absent for plain TCP. */
  tls?: { cert: string; key: string };
}

export interface ConnectOptions {
  /** Account that the client is logged in to already. */
  account?: string;
  /** Above modes, bans, kicks and throttles: joins everything, speaks everywhere. */
  privileged?: boolean;
  /** What stands for an IP address; default `internal`. */
  address?: string;
}

/**
 * An IRC server inside this program.
 *
 * Clients come over TCP, TLS or from within the process. The server keeps no files; who may log in
 * is asked of {@linkcode IrcServerOptions.accounts}.
 */
export class IrcServer {
  readonly #state: ServerState;
  /** Those that listen, each with whether it does so with TLS. */
  readonly #listeners = new Map<Deno.Listener, boolean>();
  /** Every open transport; those that were refused have no connection. */
  readonly #open = new Map<Transport, Connection | null>();
  readonly #admission: Admission;
  readonly #webSocketListeners: WebSocketListener[] = [];
  readonly #accepting = new Set<Promise<void>>();
  readonly #onClosed = (transport: Transport) => this.#forget(transport);
  readonly #closing = new AbortController();
  #sweeper: ReturnType<typeof setInterval> | undefined;
  /** Resolves when the last transport is closed; made by close(). */
  #empty: Promise<void> | null = null;
  #resolveEmpty: (() => void) | null = null;

  constructor(options: IrcServerOptions) {
    this.#state = new ServerState(options);
    this.#admission = new Admission(this.#state);
  }

  /**
   * Opens a listener; may be called several times. Returns the bound address. Throws what the
   * runtime throws when the address is in use or the certificate is not one.
   */
  listen({ hostname, port, tls }: ListenOptions): Deno.NetAddr {
    if (this.#closing.signal.aborted) throw new TypeError("Cannot listen: the server is closed");
    const listener = tls
      ? Deno.listenTls({ hostname, port, reusePort: true, cert: tls.cert, key: tls.key })
      : Deno.listen({ hostname, port });
    this.#listeners.set(listener, tls !== undefined);
    const address = listener.addr as Deno.NetAddr;
    if (tls) this.#state.tlsPort = address.port;
    const accepting = this.#accept(listener, tls !== undefined);
    this.#accepting.add(accepting);
    return address;
  }

  /**
   * Opens a listener for IRC over WebSocket, without TLS. Returns the bound address. Throws what the
   * runtime throws when the address is in use.
   */
  listenWebSocket(options: WebSocketListenOptions): Deno.NetAddr {
    if (this.#closing.signal.aborted) throw new TypeError("Cannot listen: the server is closed");
    const listener = new WebSocketListener(options, (opened) => this.#admitWebSocket(opened));
    this.#webSocketListeners.push(listener);
    return listener.addr;
  }

  /**
   * Gives connections to come another certificate. A listener cannot change its own, so that each
   * with TLS is replaced by one on the same address, which listens before the other is closed.
   * Throws, and leaves all as it is, when the certificate is not one.
   */
  renewCertificate(tls: { cert: string; key: string }): void {
    const old = [...this.#listeners].filter(([, secure]) => secure).map(([listener]) => listener);
    for (const listener of old) {
      const { hostname, port } = listener.addr as Deno.NetAddr;
      this.listen({ hostname, port, tls });
      this.#listeners.delete(listener);
      listener.close();
    }
  }

  /** Changes what may change while the server runs; limits hold for connections to come. */
  reconfigure(changes: Pick<IrcServerOptions, "motd" | "limits">): void {
    this.#state.reconfigure(changes);
  }

  /** Adds a client inside this process and gives its end of the connection. */
  connect(options: ConnectOptions = {}): MemoryConnection {
    if (this.#closing.signal.aborted) throw new TypeError("Cannot connect: the server is closed");
    const transport = new MemoryTransport({
      address: options.address ?? "internal",
      sendQueueBytes: this.#state.limits.sendQueueBytes,
      onClosed: this.#onClosed,
      onError: (error) => this.#state.log.error("IRC memory client failed", { error }),
    });
    const connection = this.#add(transport, options.privileged ?? false);
    if (options.account !== undefined) this.#state.setAccount(connection.client, options.account);
    transport.start(connection);
    return transport.connection;
  }

  /** The user that has the nick of this identity under its account, to speak for it; or null. */
  findUser({ nick, account }: UserIdentity): User | null {
    const client = this.#state.findClient(nick);
    return client && isSameAccount(account, client.account) ? new User(this.#state, client) : null;
  }

  /**
   * Adds a user without a connection, who is like any other to everybody else. It has to go when a
   * client of the same account takes its nick. Null where the nick cannot be had, also because its
   * own account has it, and once the server closes.
   */
  addUser(identity: UserIdentity): User | null {
    if (this.#closing.signal.aborted) return null;
    const client = addVirtualUser(this.#state, identity);
    return client === null ? null : new User(this.#state, client);
  }

  /**
   * Closes every live session of the account, now, and takes the status of operator from whoever
   * got it with the account's password. Returns how many sessions there were.
   */
  disconnectAccount(account: string, reason: string): number {
    return this.#state.disconnectAccount(account, reason);
  }

  /**
   * Forgets what was said to the account and by it, once it can never be logged in to again. Its
   * sessions are closed with {@linkcode disconnectAccount}, before.
   */
  forgetAccount(account: string): void {
    this.#state.forgetAccount(account);
  }

  /** Whether a registered client with a connection is logged in to the account. */
  isOnline(account: string): boolean {
    return this.#state.sessionsOf(account)
      .some((client) => client.registered && !client.virtual);
  }

  /** Whether a registered client of the account is in the channel. */
  isMember(account: string, channel: string): boolean {
    const members = this.#state.findChannel(channel)?.members;
    return members !== undefined &&
      this.#state.sessionsOf(account).some((client) => members.has(client));
  }

  /** Everybody with a connection, in the order of connecting. */
  clients(): ConnectedClient[] {
    return connectedClients(this.#state);
  }

  /** What services see of the channels, and do in them. */
  get channels(): ChannelControl {
    return new ChannelControl(this.#state);
  }

  /** Adds a user that carries out what others ask of it. Its nick must be reserved. */
  addService(service: Service): void {
    this.#state.addService(new ServiceUser(this.#state, service));
  }

  /**
   * Ends every client that is banned by now, and gives how many there were.
   *
   * @param bans those that are looked at, where the others hit nobody who is still here
   */
  enforceBans(bans?: Pick<Bans, "find">): number {
    return [...this.#state.clients].filter((client) => {
      return client.registered && enforceBan(this.#state, client, client.nick, bans);
    }).length;
  }

  stats(): IrcStats {
    return statsOf(this.#state, this.#admission.refused);
  }

  /** Tells the clients, closes listeners and connections. Resolves when all are closed. */
  async close(reason = "Server is shutting down"): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#sweeper);
    for (const listener of this.#listeners.keys()) listener.close();
    this.#listeners.clear();
    const webSockets = this.#webSocketListeners.map((listener) => listener.close());
    for (const client of [...this.#state.clients]) this.#state.disconnect(client, reason);
    await Promise.all(this.#accepting);
    this.#empty ??= new Promise((resolve) => this.#resolveEmpty = resolve);
    if (this.#open.size === 0) this.#resolveEmpty?.();
    await this.#empty;
    await Promise.all(webSockets);
  }

  async #accept(listener: Deno.Listener, secure: boolean): Promise<void> {
    while (this.#listeners.has(listener)) {
      try {
        this.#admit(await listener.accept(), secure);
      } catch (error) {
        if (!this.#listeners.has(listener)) return;
        this.#state.log.warn("IRC connection could not be accepted", { error });
        await pause(ACCEPT_PAUSE_MILLISECONDS, this.#closing.signal);
      }
    }
  }

  #admit(conn: Deno.Conn, secure: boolean): void {
    if (!disableDelay(conn, secure)) return conn.close();
    const { sendQueueBytes } = this.#state.limits;
    this.#enter(new StreamTransport(conn, { secure, sendQueueBytes, onClosed: this.#onClosed }));
  }

  #admitWebSocket({ socket, address, binary }: OpenedWebSocket): void {
    if (this.#closing.signal.aborted) return socket.close();
    const { lineBytes, sendQueueBytes } = this.#state.limits;
    const transport = new WebSocketTransport(socket, {
      ...{ address, binary, sendQueueBytes },
      secure: false,
      messageBytes: lineBytes + RECEIVED_TAG_BYTES,
      onClosed: this.#onClosed,
    });
    this.#enter(transport);
  }

  /** Takes a new connection in, or closes it at once when there are too many. */
  #enter(transport: StreamTransport | WebSocketTransport): void {
    const refusal = this.#admission.enter(transport.address, this.#open.size);
    if (refusal !== null) return this.#refuse(transport, refusal);
    transport.start(this.#add(transport, false));
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
    transport.end();
  }

  #forget(transport: Transport): void {
    this.#open.delete(transport);
    if (!transport.internal) this.#admission.leave(transport.address);
    if (this.#open.size === 0) this.#resolveEmpty?.();
  }

  #add(transport: Transport, privileged: boolean): Connection {
    const connection = new Connection(this.#state, transport, privileged);
    this.#open.set(transport, connection);
    this.#state.clients.add(connection.client);
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MILLISECONDS);
    return connection;
  }

  #sweep(): void {
    for (const connection of this.#open.values()) connection?.checkTime();
  }
}

/** Lets small writes go out at once; the runtime does so itself for TLS. False: it is gone. */
function disableDelay(conn: Deno.Conn, secure: boolean): boolean {
  try {
    if (!secure) (conn as Deno.TcpConn).setNoDelay(true);
    return true;
  } catch {
    return false;
  }
}

/** Waits, but not longer than until the signal. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}
