import { enforceAdmission } from "./channels/closing.ts";
import { AccountView } from "./account_view.ts";
import { enforceBan } from "./admission/bans.ts";
import type { ChannelStanding } from "./channels/access.ts";
import { ChannelControl } from "./channels/control.ts";
import { ClientConnections } from "./connections.ts";
import { dispatch } from "./dispatch.ts";
import { Listeners, type ListenOptions } from "./transport/listeners.ts";
import type { TlsCertificate } from "./transport/tls_port.ts";
import type { Bans, IrcObserver, IrcServerOptions, SpeechGuard, UserIdentity } from "./options.ts";
import { freeNick, isSameAccount } from "./admission/registration.ts";
import { DirectClient } from "./users/virtual_client.ts";
import { type Service, ServiceUser } from "./users/service.ts";
import { ServerState } from "./state.ts";
import {
  type ConnectedClient,
  connectedClients,
  type IrcStats,
  type PresentUser,
  presentUser,
  statsOf,
} from "./stats.ts";
import { type DirectConnection, type DirectReceiver, DirectTransport } from "./transport/direct.ts";
import { type MemoryConnection, MemoryTransport } from "./transport/memory.ts";
import { addVirtualUser, standingOf, User } from "./user.ts";
import type { WebSocketListenOptions } from "./transport/websocket_listener.ts";

/** Relayed connections beyond the limit, so that WebSockets can get an error. */
const MORE_RELAYED = 16;

/** How long a TLS handshake may take. */
const HANDSHAKE_SECONDS = 10;

export interface ConnectOptions {
  /** Account that the client is logged in to already. */
  account?: string;
  /** Above modes, bans, kicks and throttles: joins everything, speaks everywhere. */
  privileged?: boolean;
  /** Shown in place of an IP address; default `internal`. */
  address?: string;
}

/**
 * An IRC server inside this program.
 *
 * Clients connect over TCP, TLS or from within the process. The server keeps no files;
 * {@linkcode IrcServerOptions.accounts} decides who may log in.
 */
export class IrcServer {
  readonly #state: ServerState;
  readonly #listeners: Listeners;
  readonly #connections: ClientConnections;
  #isClosing = false;

  constructor(options: IrcServerOptions) {
    this.#state = new ServerState(options);
    this.#connections = new ClientConnections(this.#state);
    this.#listeners = new Listeners({
      onStream: (stream) => this.#connections.admitStream(stream),
      onWebSocket: (opened) => this.#connections.admitWebSocket(opened),
      mostRelayed: () => (this.#state.limits.connections ?? Infinity) + MORE_RELAYED,
      handshakeMilliseconds: () => handshakeTime(this.#state.limits.registrationSeconds),
      onExhausted: () => options.onExhausted?.(),
      log: this.#state.log,
    });
  }

  /**
   * Opens a listener; may be called several times. Returns the bound address. Throws the runtime's
   * error if the address is in use or the certificate is invalid.
   */
  listen(options: ListenOptions): Deno.NetAddr {
    const address = this.#listeners.listen(options);
    if (options.tls) this.#state.tlsPort = address.port;
    return address;
  }

  /**
   * Opens a listener for IRC over WebSocket. Returns the bound address. Throws the runtime's error
   * if the address is in use or the certificate is invalid.
   */
  listenWebSocket(options: WebSocketListenOptions): Deno.NetAddr {
    return this.#listeners.listenWebSocket(options);
  }

  /** Sets the observer, if it is built after the server. */
  attach(observer: IrcObserver): void {
    this.#state.attach(observer);
  }

  /** Asks this guard, and no other, about messages to channels from now on; null for none. */
  setGuard(guard: SpeechGuard | null): void {
    this.#state.guard = guard;
  }

  /** As {@linkcode Listeners.renewCertificate}. */
  renewCertificate(tls: TlsCertificate): void {
    this.#listeners.renewCertificate(tls);
  }

  /**
   * Changes the settings that may change while the server runs. Limits apply to new connections.
   * Surplus unregistered connections are closed.
   */
  reconfigure(changes: Pick<IrcServerOptions, "motd" | "limits">): void {
    this.#state.reconfigure(changes);
    this.#connections.shrink();
  }

  /** Adds a client inside this process and returns its end of the connection. */
  connect(options: ConnectOptions = {}): MemoryConnection {
    if (this.#isClosing) throw new TypeError("Cannot connect: the server is closed");
    const transport = new MemoryTransport({
      address: options.address ?? "internal",
      sendQueueBytes: this.#state.limits.sendQueueBytes,
      onClosed: this.#connections.onClosed,
      onError: (error) => this.#state.log.error("IRC memory client failed", { error }),
    });
    const connection = this.#connections.add(transport, options.privileged ?? false);
    if (options.account !== undefined) this.#state.setAccount(connection.client, options.account);
    transport.start(connection);
    return transport.connection;
  }

  /**
   * Adds a client inside this process that exchanges messages as values, without writing or parsing
   * lines, and returns its end of the connection. It has no rate limit; otherwise it works like
   * {@linkcode connect}.
   */
  connectDirect(receiver: DirectReceiver, options: ConnectOptions = {}): DirectConnection {
    if (this.#isClosing) throw new TypeError("Cannot connect: the server is closed");
    const transport = new DirectTransport({
      address: options.address ?? "internal",
      receiver,
      onClosed: this.#connections.onClosed,
      onError: (error) => this.#state.log.error("IRC direct client failed", { error }),
    });
    const client = new DirectClient(this.#state, transport, options.privileged ?? false);
    this.#connections.addDirect(transport);
    this.#state.clients.add(client);
    if (options.account !== undefined) this.#state.setAccount(client, options.account);
    transport.start({
      run: ({ id, ...command }) => {
        this.#state.counters.linesIn++;
        return dispatch(this.#state, client, { ...command, source: null }, id);
      },
      disconnected: (reason) => this.#state.forget(client, reason),
    });
    return transport.connection;
  }

  /** The user with the nick and account of this identity, to speak in its name; or null. */
  findUser({ nick, account }: UserIdentity): User | null {
    const client = this.#state.findClient(nick);
    return client && isSameAccount(account, client.account) ? new User(this.#state, client) : null;
  }

  /**
   * Adds a user without a connection, which others see like any user. It leaves when a client of
   * its account takes its nick. Returns null if the nick is in use, even by the same account, or
   * the server is closing.
   */
  addUser(identity: UserIdentity): User | null {
    if (this.#isClosing) return null;
    const client = addVirtualUser(this.#state, identity);
    return client === null ? null : new User(this.#state, client);
  }

  /**
   * Closes every session of the account at once, and removes the IRC operator status of clients that
   * got it with the account's password. Returns the number of sessions.
   */
  disconnectAccount(account: string, reason: string): number {
    return this.#state.disconnectAccount(account, reason);
  }

  /**
   * Gives a nick to the new account of that name: renames a client that uses the nick without being
   * logged in to the account (`Guest…`), at once.
   */
  freeNick(account: string): void {
    freeNick(this.#state, account);
  }

  /**
   * Forgets the history of a deleted account. Close its sessions with {@linkcode disconnectAccount}
   * first.
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

  /** Whether anybody is in the channel. */
  hasChannel(channel: string): boolean {
    return this.#state.findChannel(channel) !== undefined;
  }

  /** The relation of an account to a channel, over all its sessions, or as if it had one. */
  standing(identity: UserIdentity, channel: string): ChannelStanding {
    return standingOf(this.#state, identity, channel);
  }

  /** Whether only users of this account and of the program are in the channel. */
  isAlone(account: string, channel: string): boolean {
    for (const client of this.#state.findChannel(channel)?.members.keys() ?? []) {
      if (!client.privileged && !isSameAccount(account, client.account)) return false;
    }
    return true;
  }

  /** The user of a nick at present; null if nobody has it. */
  present(nick: string): PresentUser | null {
    const client = this.#state.findClient(nick);
    return client === undefined ? null : presentUser(client);
  }

  /** Sends a notice of the server to everybody with a connection. */
  announce(text: string): void {
    const notice = this.#state.messageFromServer("NOTICE", { params: ["$*"], text });
    for (const client of this.#state.clients) {
      if (client.registered && !client.virtual && !client.transport.internal) client.send(notice);
    }
  }

  /**
   * Sends a notice to the user of a nick, in the name of a user of the program, so that a client shows
   * it in the window of that user. If there is no such user, it comes from the server.
   */
  notify(nick: string, text: string, from: string): void {
    const [receiver, sender] = [this.#state.findClient(nick), this.#state.findClient(from)];
    const content = { params: [nick], text };
    receiver?.send(
      sender?.privileged
        ? this.#state.messageFrom(sender, "NOTICE", content)
        : this.#state.messageFromServer("NOTICE", content),
    );
  }

  /** Everybody with a connection, in the order of connecting. */
  clients(): ConnectedClient[] {
    return connectedClients(this.#state);
  }

  /**
   * Removes the operator status of members who joined first in channels that now belong to the
   * program.
   */
  claimChannels(channels: readonly string[]): void {
    for (const channel of channels) this.channels.claim(channel);
  }

  /** Applies what `Accounts.admits` says of a channel now: somebody may have to leave it. */
  enforceAdmission(channel: string): void {
    enforceAdmission(this.#state, channel);
  }

  /** Forgets what was said in a channel while its access was limited. */
  forgetConfined(channel: string): void {
    const found = this.#state.findChannel(channel);
    if (found !== undefined) this.#state.history.forgetChannel(found);
    this.#state.history.channelMade(channel);
  }

  /** The channels, for services. */
  get channels(): ChannelControl {
    return new ChannelControl(this.#state);
  }

  /** What the program reads and changes for accounts. */
  get accounts(): AccountView {
    return new AccountView(this.#state);
  }

  /** Adds a user that executes requests of other users. Its nick must be reserved. */
  addService(service: Service): void {
    this.#state.addService(new ServiceUser(this.#state, service));
  }

  /**
   * Disconnects every client that a ban matches, and returns their number.
   *
   * @param bans the bans to check, if the others were enforced before
   */
  enforceBans(bans?: Pick<Bans, "find">): number {
    return [...this.#state.clients].filter((client) => {
      return client.registered && enforceBan(this.#state, client, client.nick, bans);
    }).length;
  }

  stats(): IrcStats {
    const { refused } = this.#connections;
    const { acceptFailures, handshakes } = this.#listeners;
    return statsOf(this.#state, { refused, acceptFailures, handshakes });
  }

  /** As {@linkcode Listeners.guard}. */
  guard(): void {
    this.#listeners.guard();
  }

  /** From now on, what is stored of channels stays when members leave: the program is about to end. */
  keepChannels(): void {
    this.#state.isStopping = true;
  }

  /** Notifies the clients and closes listeners and connections. Resolves when all are closed. */
  async close(reason = "Server is shutting down"): Promise<void> {
    this.keepChannels();
    this.#isClosing = true;
    this.#connections.close();
    const stopped = this.#listeners.stop();
    for (const client of [...this.#state.clients]) this.#state.disconnect(client, reason);
    await stopped;
    await this.#connections.whenEmpty();
    await this.#listeners.finish();
  }
}

/** How long a TLS handshake may take, in milliseconds; at most as long as registration. */
function handshakeTime(registrationSeconds: number | null): number {
  return Math.min(HANDSHAKE_SECONDS, registrationSeconds ?? Infinity) * 1000;
}
