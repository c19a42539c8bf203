import { setImmediate } from "node:timers";
import { PendingLogins } from "./admission/pending_logins.ts";
import { isSealed, keptForm, noteMember } from "./channels/keeping.ts";
import { CLOSED_FLAGS, UserMode } from "./channels/modes.ts";
import { History } from "./history/history.ts";
import { MessageClock } from "./history/message_clock.ts";
import { ReadMarkers } from "./history/read_markers.ts";
import { Metadata } from "./metadata/metadata.ts";
import {
  DEFAULT_LIMITS,
  type IrcLimits,
  type IrcLogger,
  type IrcObserver,
  type IrcServerOptions,
  type Keeping,
  type ObservedMessage,
  type SpeechGuard,
} from "./options.ts";
import { MessageHead, type MessageText, Outbound, type OutboundTags } from "./outbound.ts";
import { Cap } from "./protocol/capabilities.ts";
import { foldCase } from "./protocol/names.ts";
import { type Numeric, RPL_MONOFFLINE, RPL_MONONLINE } from "./protocol/numerics.ts";
import { FormerUsers, Monitors } from "./users/nicks.ts";
import { newVirtualClient } from "./users/virtual_client.ts";
import { Channel, type Client, type Counters, newCounters } from "./members.ts";

const SILENT: IrcLogger = { debug() {}, info() {}, warn() {}, error() {} };

/** Clients, channels and everything else that commands read and change. */
export class ServerState {
  readonly log: IrcLogger;
  readonly cloakKey: Uint8Array;
  /** Unix time in milliseconds. */
  readonly startedAt: number;
  /** Every connection, registered or not. */
  readonly clients = new Set<Client>();
  readonly channels = new Map<string, Channel>();
  readonly history: History;
  readonly metadata = new Metadata();
  readonly readMarkers: ReadMarkers;
  readonly monitors = new Monitors();
  readonly formerUsers = new FormerUsers();
  readonly logins = new PendingLogins();
  readonly pace: Pace;
  readonly counters: Counters = newCounters();
  /** Decides about messages to channels; null to deliver all. */
  guard: SpeechGuard | null = null;
  /** The port where the server listens with TLS, or null. */
  tlsPort: number | null = null;
  /** Whether clients leave because the server ends, so that what is stored of channels stays. */
  isStopping = false;
  /** Messages for programs in the form for people. */
  readonly #readableForms = new WeakMap<Outbound, Outbound>();
  /** Most registered clients at one time. */
  mostRegistered = 0;

  readonly #clock: MessageClock;
  readonly #byNick = new Map<string, Client>();
  readonly #services = new Map<string, Client>();
  readonly #byAccount = new Map<string, readonly Client[]>();
  #options: Readonly<IrcServerOptions>;
  #limits: Readonly<IrcLimits>;

  constructor(options: IrcServerOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.log = options.log ?? SILENT;
    const store = options.historyStore ?? null;
    this.history = new History({ limits: () => this.#limits, store, log: this.log });
    this.cloakKey = options.cloakKey ?? crypto.getRandomValues(new Uint8Array(32));
    this.readMarkers = new ReadMarkers(options.readMarkers);
    this.#clock = new MessageClock(options.clock ?? Date.now, store?.newestTime ?? 0);
    this.pace = new Pace(options.monotonicClock);
    this.startedAt = this.now();
  }

  get options(): Readonly<IrcServerOptions> {
    return this.#options;
  }

  get limits(): Readonly<IrcLimits> {
    return this.#limits;
  }

  get serverName(): string {
    return this.#options.serverName;
  }

  /** Whether a client may make an account before its registration is complete. */
  get registersBeforeConnect(): boolean {
    const { registerBeforeConnect = true, password } = this.#options;
    return registerBeforeConnect && !password;
  }

  /** Changes the settings that may change while the server runs. */
  reconfigure({ motd = "", limits }: Pick<IrcServerOptions, "motd" | "limits">): void {
    this.#options = { ...this.#options, motd };
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
  }

  /** Reports to this observer, and to no other, from now on. */
  attach(observer: IrcObserver): void {
    this.#options = { ...this.#options, observer };
  }

  /** Registered clients. */
  get registeredCount(): number {
    return this.#byNick.size;
  }

  /** Unix time in milliseconds; never earlier than it was before. */
  now(): number {
    return this.#clock.now();
  }

  /** The current time in the form of a `time` tag. */
  timestamp(): string {
    return this.#clock.timestamp();
  }

  /** An id that is unique among all messages, even across runs. */
  nextMessageId(): string {
    return this.#clock.nextId();
  }

  /** A message from a client, with its time, id and tags about the sender. */
  messageFrom(client: Client, command: string, content: MessageContent): Outbound {
    return clientMessage(client, command, content, this.#clock);
  }

  /** A message from the server itself. */
  messageFromServer(command: string, content: MessageContent): Outbound {
    return this.#message(this.serverName, command, content);
  }

  /** A message of the server without a source, as is usual for PING, ERROR and AUTHENTICATE. */
  bareMessage(command: string, content: MessageContent): Outbound {
    return this.#message(null, command, content);
  }

  #message(source: string | null, command: string, { params, text }: MessageContent): Outbound {
    const head = new MessageHead({ source, command, params });
    return new Outbound({ head, tags: { time: this.timestamp() }, text });
  }

  /** The registered client with this nick. */
  findClient(nick: string): Client | undefined {
    const folded = foldCase(nick);
    return this.#byNick.get(folded) ?? this.#services.get(folded);
  }

  /** Adds a service user, which is not counted. */
  addService(user: Client): void {
    this.#services.set(foldCase(user.nick), user);
  }

  findChannel(name: string): Channel | undefined {
    return this.channels.get(foldCase(name));
  }

  /** The channel of this name. If it does not exist, `restored` or a new channel takes its place. */
  channel(name: string, restored?: Channel): Channel {
    const folded = foldCase(name);
    let channel = this.channels.get(folded);
    if (!channel) {
      channel = restored ?? new Channel(name, this.now());
      this.channels.set(folded, channel);
      channel.isClosed = this.isClosed(name);
      if (channel.isClosed) channel.flags |= CLOSED_FLAGS;
      // Who is admitted to a closed channel may read what was said there before a restart.
      else if (restored === undefined) this.history.channelMade(name);
    }
    return channel;
  }

  /** Whether the accounts close a channel to all that they do not admit. */
  isClosed(channel: string): boolean {
    return (this.#options.accounts.admits?.(null, channel) ?? null) !== null;
  }

  /**
   * Renames a channel; the name must be free. The stored channel is renamed too.
   *
   * @returns whether that is on disk; null if nothing is stored
   */
  renameChannel(channel: Channel, name: string): Promise<Keeping> | null {
    const { name: before, foldedName } = channel;
    channel.name = name;
    channel.foldedName = foldCase(name);
    channel.renamedAt = this.now();
    this.channels.delete(foldedName);
    this.channels.set(channel.foldedName, channel);
    const isOther = channel.foldedName !== foldedName;
    if (isOther) this.history.channelMade(name);
    this.history.channelRenamed(before, channel);
    const stored = this.options.channels?.renamed(before, keptForm(channel)) ?? null;
    if (isOther) this.readMarkers.rename(before, name);
    return stored;
  }

  /** Clients that are logged in to the account, registered or not. */
  sessionsOf(account: string): readonly Client[] {
    return this.#byAccount.get(foldCase(account)) ?? [];
  }

  /** Gives a registered client a free nick in place of its current one. */
  setNick(client: Client, nick: string): void {
    const isOther = foldCase(client.nick) !== foldCase(nick);
    if (this.findClient(client.nick) === client && isOther) this.#releaseNick(client);
    client.nick = nick;
    this.#byNick.set(foldCase(nick), client);
    this.mostRegistered = Math.max(this.mostRegistered, this.#byNick.size);
    if (isOther) this.#tellWatchers(nick, RPL_MONONLINE, client.mask);
  }

  /** Notes that a client is logged in to an account, or with null to none. */
  setAccount(client: Client, account: string | null): void {
    if (client.account !== null) {
      const others = this.sessionsOf(client.account).filter((session) => session !== client);
      if (others.length === 0) this.#byAccount.delete(foldCase(client.account));
      else this.#byAccount.set(foldCase(client.account), others);
    }
    client.account = account;
    const isReader = account !== null && this.options.accounts.readsText?.(account) === true;
    client.reading = isReader ? this.#readable : null;
    if (account === null) return;
    this.#byAccount.set(foldCase(account), [...this.sessionsOf(account), client]);
  }

  /**
   * Closes every session of an account, including logins under way, and revokes the operator status
   * that its password gave with OPER. Returns the number of sessions.
   */
  disconnectAccount(account: string, reason: string): number {
    this.logins.revoke(account);
    const sessions = this.sessionsOf(account);
    for (const client of sessions) this.disconnect(client, reason, true);
    for (const client of this.clients) {
      if (client.operatorName !== null && foldCase(client.operatorName) === foldCase(account)) {
        this.#endOperator(client);
      }
    }
    return sessions.length;
  }

  /** Forgets the data of a deleted account, because its name may get another owner. */
  forgetAccount(account: string): void {
    for (const channel of this.channels.values()) channel.forgetAccount(account);
    this.history.forgetUser(account);
    this.readMarkers.forget(account);
  }

  #endOperator(client: Client): void {
    client.operatorName = null;
    if (!client.isOperator) return;
    client.modes &= ~UserMode.OPERATOR;
    client.send(this.messageFrom(client, "MODE", { params: [client.nick, "-o"] }));
  }

  /**
   * Sends a message to those who see the client and have the capability: users who share a channel
   * with it, or watch its nick with `extended-monitor`.
   */
  tellFollowers(client: Client, capability: number, message: Outbound): void {
    const followers = this.neighboursOf(client);
    for (const watcher of this.monitors.watchersOf(client.nick)) {
      if (watcher !== client && watcher.hasCapability(Cap.EXTENDED_MONITOR)) followers.add(watcher);
    }
    for (const follower of followers) {
      if (follower.hasCapability(capability)) follower.send(message);
    }
  }

  /** Every other client with a connection that shares a channel with this one. */
  neighboursOf(client: Client): Set<Client> {
    const neighbours = new Set<Client>();
    for (const channel of client.channels) {
      for (const member of channel.listeners) neighbours.add(member);
    }
    neighbours.delete(client);
    return neighbours;
  }

  /**
   * Sends a message to every member and adds it, or its form for history, to the log. A member
   * whose command it is receives it through its reply.
   */
  tellChannel(
    channel: Channel,
    message: Outbound,
    actor: Client,
    reply: { message(message: Outbound): void },
    kept = message,
  ): void {
    for (const member of channel.listeners) {
      if (member === actor) reply.message(message);
      else member.send(message);
    }
    this.history.recordInChannel(channel, kept);
  }

  /**
   * Notes, for the account of a client that sets no markers itself, that it has received what was said
   * until a time: its next session, and other doors, begin with what is new.
   *
   * @param target a channel or a nick
   * @param time Unix milliseconds
   */
  noteReceived(client: Client, target: string, time: number): void {
    const { account, transport } = client;
    if (account === null || transport.internal || client.hasCapability(Cap.READ_MARKER)) return;
    this.readMarkers.advanceOf(account, target, time).catch((error: unknown) => {
      this.log.warn("What a client has received could not be stored", { account, error });
    });
  }

  /** Removes a client from a channel silently, and the channel when it is empty. */
  leave(client: Client, channel: Channel): void {
    // A client that the server closes has what was sent; one that fell silent may not.
    const received = this.isStopping ? this.now() : client.heardAt;
    if (channel.listeners.has(client)) this.noteReceived(client, channel.name, received);
    channel.removeMember(client);
    client.channels = client.channels.filter((other) => other !== channel);
    if (client.account !== null) {
      this.observe((observer) => observer.accessChanged?.({ channel: channel.name }));
    }
    if (channel.members.size > 0) return noteMember(this, channel, client, channel.founder);
    this.channels.delete(channel.foldedName);
    this.history.forgetChannel(channel);
    if (!channel.isKept && !this.isStopping) this.#emptied(channel);
  }

  /**
   * Ends an unregistered channel, unless the keeper wants it back as it was. What was said in a
   * sealed channel is then forgotten when somebody creates it again.
   */
  #emptied(channel: Channel): void {
    if (channel.isAwaited) return;
    const form = keptForm(channel);
    if (this.options.channels?.emptied(form)) return;
    if (isSealed(form)) this.history.confine(channel.name);
  }

  /**
   * Disconnects a client: sends it ERROR, and QUIT to its channels. Does nothing if it is already
   * being disconnected.
   *
   * @param isRemoved whether somebody removes it, so that no user without a connection stays for it
   */
  disconnect(client: Client, reason: string, isRemoved: boolean = false): void {
    if (client.quitReason !== null) return;
    const text = `Closing link: ${client.nick} (${reason})`;
    client.send(this.bareMessage("ERROR", { params: [], text }));
    this.forget(client, reason, isRemoved);
    client.transport.end();
  }

  /**
   * Removes a client from all state and tells its channels, unless a user without a connection stays
   * in its place.
   *
   * @param isRemoved as for {@link disconnect}
   */
  forget(client: Client, reason: string, isRemoved: boolean = false): void {
    if (client.quitReason !== null) return;
    client.quitReason = reason;
    client.endPause();
    this.clients.delete(client);
    this.monitors.clear(client);
    this.logins.endSasl(client);
    const heir = isRemoved ? null : this.#heirOf(client);
    if (heir !== null) {
      const { heardAt } = client;
      for (const channel of client.channels) {
        if (channel.listeners.has(client)) this.noteReceived(client, channel.name, heardAt);
      }
      this.setAccount(heir, client.account);
      this.clients.add(heir);
      this.#replace(client, heir);
      this.endSession(client, reason);
    } else if (client.registered) {
      const quit = this.messageFrom(client, "QUIT", { params: [], text: reason });
      for (const neighbour of this.neighboursOf(client)) neighbour.send(quit);
      // Users without a connection return with the program, as if they had never left.
      const isKept = !client.virtual || !this.isStopping;
      for (const channel of client.channels) {
        if (isKept) this.history.recordInChannel(channel, quit);
        this.leave(client, channel);
      }
      this.#releaseNick(client);
      this.endSession(client, reason);
    }
    this.history.forgetUser(client);
    this.setAccount(client, null);
  }

  /** Gives a client that registers the nick of its account's user without a connection, silently. */
  succeed(before: Client, client: Client): void {
    this.#replace(before, client);
    before.quitReason = "Now connected to IRC";
    this.history.forgetUser(before);
    this.setAccount(before, null);
  }

  /**
   * Puts a client in the place of another one of the same account and nick, in its channels and with
   * its statuses: nobody sees one leave or the other come. Clients with the capabilities for it learn
   * what has changed about the user.
   */
  #replace(before: Client, after: Client): void {
    const { nick, channels } = before;
    const { user, host, realname } = after;
    if (before.user !== user || before.host !== host) {
      const change = this.messageFrom(before, "CHGHOST", { params: [user, host] });
      this.tellFollowers(before, Cap.CHGHOST, change);
    }
    this.clients.delete(before);
    before.channels = [];
    for (const channel of channels) channel.replaceMember(before, after);
    after.channels = channels;
    after.nick = nick;
    this.#byNick.set(foldCase(nick), after);
    if (before.realname !== realname) {
      const named = this.messageFrom(after, "SETNAME", { params: [], text: realname });
      this.tellFollowers(after, Cap.SETNAME, named);
    }
    if (before.away !== after.away) {
      const content = after.away === null ? { params: [] } : { params: [], text: after.away };
      this.tellFollowers(after, Cap.AWAY_NOTIFY, this.messageFrom(after, "AWAY", content));
    }
  }

  /** The user without a connection that stays when a client goes; null if none does. */
  #heirOf({ account, nick, registered, virtual }: Client): Client | null {
    if (account === null || !registered || virtual || this.isStopping) return null;
    const identity = this.options.accounts.staying?.(account) ?? null;
    return identity?.nick === nick ? newVirtualClient(this, identity) : null;
  }

  /** The message as people read it, made once. */
  readonly #readable = (message: Outbound): Outbound => {
    const { command, text } = message;
    if (command !== "PRIVMSG" && command !== "NOTICE") return message;
    if (typeof text !== "string" || !text.startsWith("{")) return message;
    const known = this.#readableForms.get(message);
    if (known !== undefined) return known;
    const shown = this.options.readable?.(text) ?? null;
    const form = shown === null ? message : message.withText(shown);
    this.#readableForms.set(message, form);
    return form;
  };

  #releaseNick(client: Client): void {
    this.#byNick.delete(foldCase(client.nick));
    this.formerUsers.add(client, this.now());
    this.#tellWatchers(client.nick, RPL_MONOFFLINE, client.nick);
  }

  #tellWatchers(nick: string, { code }: Numeric, text: string): void {
    for (const watcher of this.monitors.watchersOf(nick)) {
      watcher.send(this.messageFromServer(code, { params: [watcher.nick], text }));
    }
  }

  /** Tells the observer that a client no longer counts as the account's. */
  endSession(client: Client, reason: string): void {
    const { account, nick } = client;
    if (account === null || !client.registered || client.virtual) return;
    this.observe((observer) => observer.sessionEnded?.({ account, nick, reason }));
  }

  /** Tells the observer of a message. There are so many that each does without a function. */
  observeMessage(message: ObservedMessage): void {
    try {
      this.options.observer?.messageSent?.(message);
    } catch (error) {
      this.log.error("IRC observer failed", { error });
    }
  }

  /** Calls the observer, and logs what it throws. */
  observe(tell: (observer: IrcObserver) => void): void {
    if (!this.options.observer) return;
    try {
      tell(this.options.observer);
    } catch (error) {
      this.log.error("IRC observer failed", { error });
    }
  }
}

/** A message from a client: the parameters, and the free text at its end. */
export interface MessageContent {
  readonly params: readonly string[];
  readonly text?: MessageText | undefined;
  /** Its id; by default, a new one. */
  readonly id?: string | undefined;
  /** The nick of the user on another network for whom the client speaks. */
  readonly relayedFrom?: string;
  /** Client-only tags of the message. */
  readonly clientTags?: readonly (readonly [string, string])[] | undefined;
}

/** A message from a client, with its time, id and tags about the sender. */
function clientMessage(
  client: Client,
  command: string,
  { params, text, id, relayedFrom, clientTags }: MessageContent,
  clock: MessageClock,
): Outbound {
  // All members at once: one that is added takes memory of its own.
  const tags: OutboundTags = {
    time: clock.nextTimestamp(),
    milliseconds: clock.stampedAt,
    msgid: id ?? clock.nextId(),
    account: client.account,
    guest: client.account === null ? client.id : undefined,
    relayer: relayedFrom === undefined ? undefined : client.nick,
    bot: client.hasMode(UserMode.BOT),
    client: clientTags,
  };
  const head = relayedFrom === undefined ? client.head(command, params) : new MessageHead({
    source: `${relayedFrom}!${client.user}@${client.host}`,
    command,
    params,
  });
  return new Outbound({ head, tags, text });
}

/** How long the long answers of one turn of the event loop may compute in all, in milliseconds. */
const SLICE = 4;

/** Calls from one look at the clock to the next. */
const STRIDE = 16;

/**
 * Long answers, such as that to `LIST *`, are computed in slices. All clients share the time of a
 * turn, so that many clients with long answers delay others no more than one does.
 */
export class Pace {
  readonly #clock: () => number;
  readonly #waiting: (() => void)[] = [];
  /** When the time of this turn is used up; null if nothing long has begun in it. */
  #end: number | null = null;
  #calls = 0;

  /** @param clock in milliseconds */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /**
   * Called for each step of a long answer.
   *
   * @returns a promise to wait for if the time of this turn is used up; else null
   */
  step(): Promise<void> | null {
    if (this.#end === null) {
      this.#end = this.#clock() + SLICE;
      this.#nextTurn();
      return null;
    }
    if (this.#calls++ % STRIDE !== 0 || this.#clock() < this.#end) return null;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #nextTurn(): void {
    setImmediate(() => {
      this.#end = null;
      this.#calls = 0;
      // One answer goes on in each turn: with all at once, each would take a step beyond the time.
      const resume = this.#waiting.shift();
      if (resume === undefined) return;
      this.#end = this.#clock() + SLICE;
      this.#nextTurn();
      resume();
    });
  }
}
