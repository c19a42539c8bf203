import { Conflict, Invalid, NotFound, Unavailable } from "../errors.ts";
import { type Caller, type Principal, speakerName } from "../identity/mod.ts";
import { type ChannelStanding, foldCase, isNick } from "../irc/mod.ts";
import { checkQuery, type MessageQuery, MessageReaders } from "../messages/mod.ts";
import { ChannelAccess } from "./access.ts";
import type { Channel, HeldMessage } from "./channel.ts";
import { Channels, type ChannelUse } from "./channels.ts";
import { compose, type Composition, cut } from "./composition.ts";
import { Confirmation } from "./confirmation.ts";
import { ChannelFollowing, type FollowingStart } from "./following.ts";
import { Hearing } from "./hearing.ts";
import { Link } from "./link.ts";
import type { LinkEvent, LinkMessage, LinkRefusal } from "./link_events.ts";
import { isLineOf, MessageIds } from "./message_ids.ts";
import { readChannelName } from "./names.ts";
import type {
  BridgeOptions,
  BridgeStats,
  ChannelFollower,
  ChannelMessage,
  ChannelSummary,
  Following,
  NewPost,
  Speaker,
} from "./options.ts";
import { Outbox } from "./outbox.ts";
import { Playback } from "./playback.ts";
import { type Scheduler, systemScheduler } from "../scheduler.ts";
import { textOf, textOfSent } from "./shown.ts";
import { byteLength } from "./text.ts";

/** How long a request waits for the bridge to be up. */
const READY_MILLISECONDS = 5000;

/** The number of the reply that tells that nobody has a nick. */
const NO_SUCH_NICK = "401";

/** Most readers that wait at once. */
const MAX_WAITING = 5000;

/**
 * The bot that gives HTTP and MCP clients the channels of an IRC network: it keeps what was said,
 * tells who is there, and speaks for those who have no IRC client.
 *
 * Every method that takes a channel takes its name with or without `#` and throws Invalid where it
 * is none. Those that return a promise wait up to 5 seconds for the bridge to be up and then reject
 * with Unavailable.
 */
export class Bridge {
  readonly nick: string;
  readonly #options: BridgeOptions;
  readonly #scheduler: Scheduler;
  readonly #link: Link;
  readonly #channels: Channels;
  readonly #access: ChannelAccess;
  readonly #playback: Playback;
  readonly #outbox: Outbox;
  readonly #readers: MessageReaders;
  readonly #untilReady = new Set<Confirmation>();
  #ready = false;
  #stopping: Promise<void> | null = null;
  #received = 0;
  readonly #ids = new MessageIds();
  #posted = 0;
  #disconnects = 0;
  #cut = 0;

  constructor(options: BridgeOptions) {
    const { nick, channels, bufferSize, maxChannels, connect, log } = options;
    this.nick = nick;
    this.#options = options;
    this.#scheduler = options.scheduler ?? systemScheduler;
    this.#outbox = new Outbox(this.#scheduler, () => hearing.doubt());
    this.#readers = new MessageReaders({ scheduler: this.#scheduler, max: MAX_WAITING });
    this.#link = new Link({
      ...{ nick, connect, log },
      login: options.login ?? (() => Promise.resolve(null)),
      serverPassword: options.serverPassword ?? null,
      pace: options.pace ?? null,
      scheduler: this.#scheduler,
      random: options.random ?? Math.random,
      onEvent: (event) => this.#handle(event),
    });
    const hearing = new Hearing({ outbox: this.#outbox, link: this.#link, log });
    this.#playback = new Playback(this.#link, this.#scheduler);
    this.#access = new ChannelAccess(options.speakers ?? null);
    this.#channels = new Channels({
      kept: channels.map(readChannelName),
      max: maxChannels,
      maxPerAgent: options.maxChannelsPerAgent,
      keepsAlone: (agent, name) => options.speakers?.keepsAlone(agent, name) ?? false,
      store: options.store ?? null,
      restored: options.restored ?? [],
      bufferSize,
      link: this.#link,
      recall: (channel) => this.#recall(channel),
      scheduler: this.#scheduler,
      log,
    });
  }

  /** Whether it is connected and in its channels, and IRC sends back what it says. */
  get ready(): boolean {
    return this.#ready && !this.#outbox.silent;
  }

  /** Whether a nick is in one of the channels that the bridge is in, or in the one given. */
  sees(nick: string, channel?: string): boolean {
    if (channel !== undefined) return this.#channels.get(channel)?.hasMember(nick) ?? false;
    return this.#channels.list().some((one) => one.hasMember(nick));
  }

  /** How a nick stands to a channel, as far as the bridge sees: it knows no modes. */
  standing(nick: string, channel: string): ChannelStanding {
    const found = this.#channels.get(channel);
    const member = found?.hasMember(nick) ?? false;
    return { exists: found !== null, member, visible: true, refusal: null };
  }

  /** Whether the bridge sees nobody in a channel but itself and this nick. */
  isAlone(nick: string, channel: string): boolean {
    return !(this.#channels.get(channel)?.hasOthers(this.#link.nick, nick) ?? false);
  }

  /** Connects, and from then on stays connected. */
  start(): void {
    this.#link.start();
  }

  /** Ends every reader and leaves the network. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** Resolves when the bridge is up. */
  async whenReady(): Promise<void> {
    if (this.#ready) return;
    if (this.#stopping !== null) throw new Unavailable("The server is shutting down");
    const ready = new Confirmation(
      this.#scheduler,
      READY_MILLISECONDS,
      () => new Unavailable("The bridge is not connected to IRC"),
    );
    this.#untilReady.add(ready);
    try {
      await ready.promise;
    } finally {
      this.#untilReady.delete(ready);
    }
  }

  /** The names of the channels that the bridge is in, as far as the caller may know, sorted. */
  channels(caller?: Caller): string[] {
    return this.#listFor(caller).map(({ name }) => name);
  }

  /** The channels that the bridge is in, as far as the caller may know, sorted by name. */
  summaries(caller?: Caller): ChannelSummary[] {
    const after = this.#presentAfter();
    return this.#listFor(caller).map((channel) => {
      const { name, topic } = channel;
      return { name, members: channel.users(after).length, topic };
    });
  }

  /**
   * Joins a channel, unless the bridge is in it. A caller who is a user of the server joins too.
   *
   * @throws Conflict where the channel refuses it, Forbidden where it would be new and the caller
   * is paused, TooMany, TimedOut
   */
  async join(channel: string, caller?: Caller): Promise<void> {
    const wanted = readChannelName(channel);
    await this.whenReady();
    if (caller !== undefined && this.#channels.get(wanted) === null) {
      this.#options.speakers?.requireVoice(caller.principal);
    }
    const { name } = await this.#enter(wanted, caller);
    const user = this.#userOf(caller);
    const refusal = user?.join(name) ?? null;
    if (refusal !== null) throw new Conflict(`${name} refuses you: ${refusal}`);
    await user?.settled();
  }

  /**
   * Leaves a channel and ends its readers. Where the bridge is not in it, nothing happens. For an
   * agent, who leaves it as a user of the server, the bridge stays as long as somebody else uses the
   * channel or the configuration names it.
   *
   * @throws TimedOut, Unavailable
   */
  async part(channel: string, caller?: Caller): Promise<void> {
    const name = readChannelName(channel);
    await this.whenReady();
    const user = this.#userOf(caller);
    user?.part(name);
    await user?.settled();
    const { agent: id } = useOf(caller);
    const nick = caller?.principal.name ?? "";
    const isDone = id === null ||
      this.#channels.release(name, { id, nick }, this.#access.watching(name, id));
    if (isDone) await this.#channels.leave(name, "Asked to leave");
  }

  /**
   * Reads messages, oldest first: without `since` the newest, with it the first ones that came
   * after, with `before` the last ones that came before. What the bridge keeps no more it asks the
   * IRC server for. Joins a channel that somebody is in; of one that nobody is in there are none.
   *
   * @throws Invalid, Forbidden or NotFound where the caller may not read it, and what {@link join}
   * throws
   */
  async messages(
    channel: string,
    query: MessageQuery,
    caller?: Caller,
  ): Promise<ChannelMessage[]> {
    const name = readChannelName(channel);
    checkQuery(query, this.#options.bufferSize);
    const entered = await this.#visit(name, caller);
    const read = entered === null ? this.#firstMessages(name, query) : this.#read(entered, query);
    const messages = await read;
    if (query.waitSeconds) this.#access.assertReadable(name, caller);
    return messages;
  }

  async #read(entered: Channel, query: MessageQuery): Promise<ChannelMessage[]> {
    const { since, before, limit = this.#options.bufferSize } = query;
    if (before !== undefined) return await this.#playback.readBefore(entered, before, limit);
    const missed = since === undefined ? [] : await this.#playback.readAfter(entered, since, limit);
    return missed.length > 0 ? missed : await this.#readers.read(entered.log, { ...query, limit });
  }

  /** What is said first in a channel that is not there yet, for somebody who waits for it. */
  async #firstMessages(name: string, query: MessageQuery): Promise<ChannelMessage[]> {
    const { before, waitSeconds = 0, limit = this.#options.bufferSize } = query;
    if (waitSeconds === 0 || before !== undefined) return [];
    const { log, end } = this.#channels.awaitLog(name);
    try {
      return await this.#readers.read(log, { ...query, since: undefined, limit });
    } finally {
      end();
    }
  }

  /**
   * Hands a channel's messages to a follower: what the buffer holds of what it wants before this
   * resolves, then each new one; in order, without a gap, none twice. What came before the buffer
   * begins it is given page by page, when it asks for more. Ends when the caller may read
   * the channel no more. Joins a channel that somebody is in; one that nobody is in for the operator.
   *
   * @throws Invalid, Forbidden or NotFound where the caller may not read it, and what {@link join}
   * throws
   */
  async follow(
    channel: string,
    start: FollowingStart,
    follower: ChannelFollower,
    caller?: Caller,
  ): Promise<Following> {
    const name = readChannelName(channel);
    const entered = await this.#visit(name, caller) ??
      await this.#make(name, caller);
    const options = { channel: entered, playback: this.#playback, follower };
    const following = await ChannelFollowing.open(options, start);
    try {
      this.#access.assertReadable(name, caller);
    } catch (error) {
      following.close();
      throw error;
    }
    const unwatch = this.#access.watch(name, caller, (reason) => {
      close();
      follower.end(reason);
    });
    const close = () => {
      entered.usedAt = this.#scheduler.now();
      unwatch();
      following.close();
    };
    const cut = () => {
      if (!following.live) return false;
      this.#cut++;
      close();
      return true;
    };
    return { close, cut, more: () => following.more() };
  }

  /**
   * Says something in a channel, which is joined where the bridge is not in it. Resolves when IRC
   * has it.
   *
   * A caller who is a user of the server says it itself. For others the bridge does, line by line,
   * with the speaker's name in front unless it is the bridge. An envelope goes out as it is, on one
   * line.
   *
   * @throws Invalid and TooLarge for the text, Forbidden where the caller may not use the nick or
   * is paused, TooMany, Conflict where IRC refuses it, TimedOut where IRC did not confirm it, and
   * what {@link join} throws
   */
  async post(channel: string, post: NewPost, caller: Caller): Promise<void> {
    const name = readChannelName(channel);
    const composed = compose(post, caller.principal);
    this.#options.speakers?.requireVoice(caller.principal);
    this.#assertChannel(name);
    const entered = await this.#enter(name, caller);
    if (!this.#link.up) throw new Unavailable("The IRC connection was lost");
    const user = this.#userOf(caller);
    if (user === null) {
      await this.#say(entered.name, composed, caller.principal);
      return entered.setPresent(composed.speaker ?? this.nick, this.#scheduler.now());
    }
    const pieces = cut(composed, user.room(entered.name));
    this.#options.speakers?.admit(caller.principal, pieces.length);
    await this.#sayAs(user, entered.name, pieces);
    await user.settled();
  }

  /**
   * Says something to one user, line by line, with the speaker's name in front unless it is the
   * bridge. Resolves when IRC has it. It is taken from nobody's rate.
   *
   * @param nick a valid nick
   * @throws TooLarge for an envelope, NotFound where nobody has the nick, Conflict where IRC refuses
   * it, TimedOut where IRC did not confirm it
   */
  async tell(nick: string, post: Composition): Promise<void> {
    await this.whenReady();
    await this.#say(nick, post, null);
  }

  /**
   * The nicks in a channel, sorted: the bridge, who is there on IRC, and who was there over HTTP
   * lately.
   *
   * @throws NotFound where the bridge is not in the channel or the caller may not know of it,
   * Forbidden where the caller may not read it
   */
  async users(channel: string, caller?: Caller): Promise<string[]> {
    const name = readChannelName(channel);
    await this.whenReady();
    this.#access.assertReadable(name, caller);
    const found = this.#channels.get(name);
    if (found === null) throw new NotFound(`The bridge is not in ${name}`);
    found.usedAt = this.#scheduler.now();
    return found.users(this.#presentAfter());
  }

  /**
   * Notes that somebody is in a channel over HTTP. Where the bridge is not in it, nothing happens.
   *
   * @throws Invalid where the nick is none, Forbidden where the caller may not use it
   */
  presence(channel: string, nick: string, caller: Caller): void {
    const name = readChannelName(channel);
    const speaker = this.#speaker(nick, caller);
    if (!this.#access.mayRead(name, caller)) return;
    this.#channels.get(name)?.setPresent(speaker, this.#scheduler.now());
  }

  stats(): BridgeStats {
    return {
      channels: this.#channels.list().length,
      received: this.#received,
      posted: this.#posted,
      disconnects: this.#disconnects,
      waiting: this.#readers.waiting,
      cut: this.#cut,
    };
  }

  async #stop(): Promise<void> {
    const reason = "The server is shutting down";
    this.#ready = false;
    for (const waiting of this.#untilReady) waiting.refuse(new Unavailable(reason));
    this.#access.close();
    this.#channels.close(reason);
    this.#outbox.clear(new Unavailable(reason));
    this.#playback.clear(new Unavailable(reason));
    await this.#link.stop(reason);
  }

  /** Enters a channel for somebody who joins it or speaks in it. */
  async #enter(name: string, caller: Caller | undefined): Promise<Channel> {
    await this.whenReady();
    this.#access.assertJoinable(name, caller);
    return await this.#channels.enter(name, { ...useOf(caller), lasting: true });
  }

  /** A channel for somebody who reads it; null where nobody is in it. */
  async #visit(name: string, caller: Caller | undefined): Promise<Channel | null> {
    await this.whenReady();
    this.#access.assertReadable(name, caller);
    if (!this.#exists(name)) return null;
    const entered = await this.#channels.enter(name, { ...useOf(caller), lasting: false });
    this.#access.assertReadable(name, caller);
    return entered;
  }

  /** Makes a channel for a stream of the operator. */
  async #make(name: string, caller: Caller | undefined): Promise<Channel> {
    if (useOf(caller).agent === null) return await this.#enter(name, caller);
    throw new NotFound(`There is no channel ${name}: join it or speak in it first`);
  }

  #exists(name: string): boolean {
    return this.#channels.has(name) || (this.#options.hasChannel?.(name) ?? false);
  }

  #listFor(caller: Caller | undefined): Channel[] {
    return this.#channels.list().filter(({ name }) => this.#access.sees(name, caller));
  }

  /** @throws Conflict where the name is an agent's, and no channel has it */
  #assertChannel(name: string): void {
    const nick = name.slice(1);
    if (this.#exists(name) || !this.#options.speakers?.isAgent(nick)) return;
    throw new Conflict(
      `"${nick}" is an agent, and nobody is in ${name}: POST /v1/agents/${nick}/messages ` +
        "sends to the agent alone",
    );
  }

  #speaker(nick: string | null, { principal }: Caller): string {
    if (nick !== null && !isNick(nick)) {
      throw new Invalid('"nick" must be an IRC nick of 1 to 64 characters');
    }
    return speakerName(principal, nick) ?? this.nick;
  }

  /** The caller as a user of the IRC server; null where the bridge has to speak for it. */
  #userOf(caller: Caller | undefined): Speaker | null {
    if (caller === undefined) return null;
    return this.#options.speakers?.speaker(caller.principal) ?? null;
  }

  /**
   * Says something to a channel or a nick in somebody's place.
   *
   * @param payer whose rate it is taken from; null for nobody's
   */
  async #say(target: string, post: Composition, payer: Principal | null): Promise<void> {
    const speaker = post.speaker ?? this.nick;
    const isOwn = foldCase(speaker) === foldCase(this.nick);
    const saidFor = isOwn ? null : { nick: speaker, account: post.account };
    const prefix = post.isEnvelope || isOwn ? "" : `[${speaker}] `;
    const pieces = cut(post, this.#link.room(target) - byteLength(prefix));
    const delay = this.#link.admit(pieces.length);
    if (payer !== null) this.#options.speakers?.admit(payer, pieces.length);
    const { labels, confirmed } = this.#outbox.add(
      pieces.map((text) => ({ nick: speaker, text, speaker: saidFor })),
      delay,
    );
    this.#link.say(target, pieces.map((piece) => `${prefix}${piece}`), labels, saidFor);
    await confirmed;
  }

  /** Has a user say something; over when the bridge has heard it. */
  async #sayAs(user: Speaker, channel: string, texts: readonly string[]): Promise<void> {
    const last = user.say(channel, texts).at(-1);
    if (last !== undefined) await this.#outbox.arrival(last);
  }

  /** Whoever was here over HTTP after this time still counts as present. */
  #presentAfter(): number {
    return this.#scheduler.now() - this.#options.webUserTtlMilliseconds();
  }

  #handle(event: LinkEvent): void {
    switch (event.kind) {
      case "up":
        return this.#linkUp();
      case "down":
        return this.#linkDown();
      case "message":
        return this.#receive(event);
      case "redaction":
        this.#options.onRedacted?.(event.id);
        this.#channels.get(event.channel)?.log.remove(({ id }) => isLineOf(event.id, id));
        return;
      case "refusal":
        if (event.label === null || this.#playback.refuse(event.label)) break;
        return this.#outbox.refuse(event.label, refusalError(event));
      case "playback":
        return this.#playback.take(event);
    }
    this.#channels.handle(event);
  }

  #linkUp(): void {
    const session = this.#disconnects;
    this.#channels.enterAll().then(() => {
      if (this.#stopping !== null || session !== this.#disconnects) return;
      this.#ready = true;
      this.#options.log.info("The bridge is up", { channels: this.channels() });
      for (const waiting of this.#untilReady) waiting.confirm();
      this.#options.onUp?.();
    });
  }

  #linkDown(): void {
    this.#ready = false;
    this.#disconnects++;
    this.#channels.linkLost();
    const error = new Unavailable("The IRC connection was lost");
    this.#outbox.clear(error);
    this.#playback.clear(error);
  }

  /** Takes a message in for its channel: one of ours under the name that it was sent for. */
  #receive(heard: LinkMessage): void {
    const { label } = heard;
    const sent = label === null ? null : this.#outbox.confirm(label);
    if (sent === null && heard.text === "") return;
    const found = this.#channels.get(heard.channel);
    if (found !== null) {
      if (sent !== null) this.#posted++;
      this.#received++;
      const shown = sent === null ? textOf(heard) : textOfSent(sent, heard);
      const message = { id: this.#ids.of(heard), ...shown };
      const held = { message, heard, isOurs: sent !== null };
      if (found.held === null) this.#keep(found, held);
      else found.hold(held, this.#options.bufferSize);
    }
    if (heard.id !== null) this.#outbox.arrived(heard.id);
  }

  /** Takes a message into its channel's log. */
  #keep(channel: Channel, { message, heard, isOurs }: HeldMessage): void {
    const logged = channel.log.append(message, heard.time);
    if (isOurs) this.#options.onPosted?.(channel.name, logged);
    else this.#options.onHeard?.({ ...heard, id: message.id, channel: channel.name });
  }

  /**
   * Reads back what was said in a channel before the bridge came, or while it was away; what is said
   * meanwhile follows. Where the server plays nothing back, the log goes on where it is.
   */
  async #recall(channel: Channel): Promise<void> {
    if (!this.#playback.available) return;
    channel.held = [];
    const { name, log } = channel;
    await this.#playback.fill(channel, this.#options.bufferSize).catch((error: unknown) => {
      const message = "What was said in a channel could not be read back";
      this.#options.log.warn(message, { channel: name, error });
    });
    const held = channel.held;
    channel.held = null;
    for (const one of held) {
      if (log.microsecondsOf(one.message.id) === null) this.#keep(channel, one);
    }
  }
}

/** Why the server would not take a message. */
function refusalError({ code, channel: target, reason }: LinkRefusal): Error {
  if (code === NO_SUCH_NICK && isNick(target)) {
    return new NotFound(`There is nobody of the nick "${target}" on IRC`);
  }
  return new Conflict(`IRC refused the message: ${reason}`);
}

/** On whose behalf a caller uses a channel. */
function useOf(caller: Caller | undefined): Pick<ChannelUse, "agent"> {
  const { kind, id = null } = caller?.principal ?? {};
  return { agent: kind === "agent" ? id : null };
}
