import { Invalid, NotFound, Unavailable } from "../../kernel/errors.ts";
import {
  type Caller,
  type Holder,
  OPERATOR,
  type Principal,
  speakerName,
} from "../../people/identity/mod.ts";
import { channelName, type ChannelStanding, foldCase, isNick } from "../../engines/irc/mod.ts";
import type { Rate } from "../../kernel/token_bucket.ts";
import type { Log } from "../../kernel/log.ts";
import { checkQuery, ListTexts, type MessageQuery, MessageReaders } from "../messages/mod.ts";
import { type Scheduler, systemScheduler } from "../../kernel/scheduler.ts";
import type { Channel } from "./channel.ts";
import { Channels, type ChannelsOptions } from "./channels.ts";
import type { Composition } from "./composition.ts";
import { Readiness } from "./confirmation.ts";
import { ChannelAccess, ChannelEntry } from "./entry.ts";
import { ChannelFollowing, type FollowingStart } from "./following.ts";
import { Intake, type IntakeOptions } from "./intake.ts";
import type { ChannelStore, StoredChannel } from "./lasting_channels.ts";
import { Link } from "./link.ts";
import type { LinkEvent } from "./link_events.ts";
import { type BridgeNodes, NodeSharing } from "./node_sharing.ts";
import { Hearing, Outbox } from "./outbox.ts";
import { type MessageArchive, Playback, Searching } from "./playback.ts";
import { ChannelAuthorization, type Credentials, type LineMarks, Posting } from "./posting.ts";
import type { DirectConnect } from "./session.ts";
import type { Connect } from "./transport.ts";
import type {
  BridgeEars,
  BridgeLogin,
  BridgeStats,
  ChangeListener,
  ChannelFollower,
  ChannelMessage,
  ChannelOverview,
  ChannelSearch,
  ChannelSummary,
  Following,
  FoundMessages,
  HeardMessage,
  Mentions,
  NewPost,
  Speakers,
} from "./types.ts";

export interface BridgeOptions {
  readonly nick: string;
  /** Channels that the bridge joins at the start and keeps; with or without `#`. */
  readonly channels: readonly string[];
  /** Messages kept per channel. */
  readonly bufferSize: number;
  readonly maxChannels: number;
  /** Channels that one agent may keep alive alone. */
  readonly maxChannelsPerAgent: number;
  /** The store of its channels; absent for none. */
  readonly store?: ChannelStore;
  /** The channels in the store, to rejoin. */
  readonly restored?: readonly StoredChannel[];
  /** What it shares with the bridges of other nodes; absent or null without nodes. */
  readonly nodes?: BridgeNodes | null;
  /** Whether a channel has members; absent if only the bridge's own channels are known. */
  readonly hasChannel?: (channel: string) => boolean;
  /** How long presence over HTTP currently lasts. */
  readonly webUserTtlMilliseconds: () => number;
  /** The history of the IRC server on disk, to search it; absent if there is none. */
  readonly archive?: MessageArchive | null;
  /** Where posts arrive that mention somebody; absent if nobody keeps them. */
  readonly mentions?: Mentions;
  /** Opens a connection to an IRC server: by lines, or direct to the one in this process. */
  readonly connect: Connect | DirectConnect;
  /** For PASS, if the server requires one. */
  readonly serverPassword?: string | null;
  /**
   * Called before each connection; returns the bridge's login, or null for none. A rejection counts
   * as a failed attempt.
   */
  readonly login?: () => Promise<BridgeLogin | null>;
  /** The rate of outgoing lines; absent or null for no limit. */
  readonly pace?: Rate | null;
  /** When credentials end, with which lines that wait go no more; absent if none can end. */
  readonly credentials?: Credentials;
  /** Called each time the bridge comes up. Must not throw. */
  readonly onUp?: () => void;
  /** Called with each message of another user. Must not throw. */
  readonly onHeard?: (message: HeardMessage) => void;
  /** Called with the server's id of each redacted message. Must not throw. */
  readonly onRedacted?: (id: string) => void;
  readonly log: Log;
  /** If absent, the bridge speaks for all callers, without limits. */
  readonly speakers?: Speakers;
  /** Called with each message of the bridge, under the name of its speaker. Must not throw. */
  readonly onPosted?: (channel: string, message: ChannelMessage) => void;
  readonly scheduler?: Scheduler;
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number;
}

/** Whose place a reader inside this process takes. */
const INTERNAL: Holder = { principal: OPERATOR, address: null };

/**
 * The bot that gives HTTP and MCP clients the channels of an IRC network: it keeps messages, lists
 * members, and posts for callers without an IRC client.
 *
 * Every method that takes a channel accepts its name with or without `#`, and throws Invalid if the
 * name is not valid. Methods that return a promise wait up to 5 seconds for the bridge to be up,
 * then reject with Unavailable.
 */
export class Bridge {
  readonly nick: string;
  readonly #options: BridgeOptions;
  readonly #parts: BridgeParts;
  readonly #readers: MessageReaders;
  readonly #texts = new ListTexts<ChannelMessage>();
  readonly #ears = new Set<BridgeEars>();
  #stopping: Promise<void> | null = null;
  #disconnects = 0;
  #cut = 0;

  constructor(options: BridgeOptions) {
    this.nick = options.nick;
    this.#options = options;
    this.#parts = connectParts(options, this.#ears, (event) => this.#handle(event));
    this.#readers = new MessageReaders({ scheduler: this.#parts.scheduler });
  }

  /** Whether it is connected and in its channels, and IRC echoes its messages. */
  get ready(): boolean {
    return this.#parts.readiness.up && !this.#parts.outbox.silent;
  }

  /** Whether a nick is in one of the bridge's channels, or in the given one. */
  sees(nick: string, channel?: string): boolean {
    if (channel !== undefined) return this.#parts.channels.get(channel)?.hasMember(nick) ?? false;
    return this.#parts.channels.list().some((one) => one.hasMember(nick));
  }

  /** The relation of a nick to a channel, as far as the bridge sees; it knows no modes. */
  standing(nick: string, channel: string): ChannelStanding {
    const found = this.#parts.channels.get(channel);
    const member = found?.hasMember(nick) ?? false;
    return { exists: found !== null, member, visible: true, refusal: null };
  }

  /** Whether the bridge sees only itself and this nick in a channel. */
  isAlone(nick: string, channel: string): boolean {
    return !(this.#parts.channels.get(channel)?.hasOthers(...this.#parts.channels.ownNicks, nick) ??
      false);
  }

  /** Connects, and reconnects whenever the connection is lost. */
  start(): void {
    this.#parts.sharing?.start();
    this.#parts.link.start();
  }

  /** Ends every reader and leaves the network. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** Resolves when the bridge is up. */
  whenReady(): Promise<void> {
    return this.#parts.readiness.wait();
  }

  /** The names of the channels that the bridge is in, as far as the caller may know, sorted. */
  channels(caller?: Caller): string[] {
    return this.#visible(caller).map(({ name }) => name);
  }

  /** The channels that the bridge is in, as far as the caller may know, sorted by name. */
  summaries(caller?: Caller): ChannelSummary[] {
    const after = this.#presentAfter();
    return this.#visible(caller).map((channel) => {
      const { name, topic } = channel;
      return { name, members: channel.users(after).length, topic };
    });
  }

  /**
   * The channels that the bridge is in and the caller may read, sorted by name.
   *
   * @param readUpTo how far the caller has read a channel, in Unix milliseconds; null if unknown
   */
  overviews(caller: Caller, readUpTo: (channel: string) => number | null): ChannelOverview[] {
    const { access } = this.#parts;
    const after = this.#presentAfter();
    const readable = this.#visible(caller).filter(({ name }) => access.mayRead(name, caller));
    return readable.map((channel) => {
      const { name, topic, log } = channel;
      const members = channel.users(after).length;
      const unread = unreadIn(channel, readUpTo(name));
      return { name, topic, members, last: log.last, unread };
    });
  }

  /**
   * The messages in memory after a time in Unix milliseconds; none for null. It checks no access.
   */
  unread(channel: string, readUpTo: number | null): readonly ChannelMessage[] {
    const log = this.#parts.channels.get(readChannelName(channel))?.log;
    if (log === undefined || readUpTo === null) return [];
    const after = afterRead(readUpTo);
    return log.countAfter(after) === 0 ? [] : log.readAfter(after);
  }

  /** The topic of a channel; empty if it has none or the bridge is not in it. It checks no access. */
  topic(channel: string): string {
    return this.#parts.channels.get(readChannelName(channel))?.topic ?? "";
  }

  /** Whether the caller may read a channel, or could if it existed. */
  mayRead(channel: string, caller: Caller): boolean {
    return this.#parts.access.mayRead(readChannelName(channel), caller);
  }

  /** Whether a channel has members, as far as the bridge knows. It checks no access. */
  exists(channel: string): boolean {
    return this.#parts.entry.exists(readChannelName(channel));
  }

  /**
   * Calls a listener with each change of members and topics of channels that somebody follows.
   *
   * @returns a function that ends the subscription
   */
  onChanged(listener: ChangeListener): () => void {
    return this.#parts.channels.onChanged(listener);
  }

  /**
   * Hears everything in the bridge's channels from now on.
   *
   * @returns a function that ends it
   */
  listen(ears: BridgeEars): () => void {
    this.#ears.add(ears);
    return () => this.#ears.delete(ears);
  }

  /**
   * Joins a channel, unless the bridge is in it. A caller that is a user of the server joins too.
   *
   * @throws Conflict if the channel refuses it, Forbidden if it would be new and the caller is
   * paused, TooMany, TimedOut
   */
  async join(channel: string, caller?: Caller): Promise<void> {
    await this.#parts.entry.join(readChannelName(channel), caller);
  }

  /**
   * Leaves a channel and ends its readers. Does nothing if the bridge is not in the channel. If an
   * agent leaves, the bridge stays while somebody else uses the channel or the configuration names it.
   *
   * @throws TimedOut, Unavailable
   */
  async part(channel: string, caller?: Caller): Promise<void> {
    await this.#parts.entry.part(readChannelName(channel), caller);
  }

  /**
   * Reads messages, oldest first: by default the newest, with `since` the first ones after it, with
   * `before` the last ones before it. Asks the IRC server for messages that the bridge no longer
   * has. Joins the channel if it has members; an empty channel has no messages.
   *
   * @throws Invalid, Forbidden or NotFound if the caller may not read it, and what {@link join}
   * throws
   */
  async messages(
    channel: string,
    query: MessageQuery,
    caller?: Caller,
  ): Promise<ChannelMessage[]> {
    const name = readChannelName(channel);
    const { entry, access, sharing } = this.#parts;
    checkQuery(query, this.#options.bufferSize);
    const entered = await entry.visit(name, caller);
    await sharing?.lines.reach(entered, query.since ?? query.before);
    const reader = caller ?? INTERNAL;
    const read = entered === null
      ? this.#firstMessages(name, query, reader)
      : this.#read(entered, query, reader);
    const messages = await read;
    access.assertReadable(name, caller);
    return messages;
  }

  /** The JSON of {@link messages}. Most readers get what the one before them got. */
  async messagesAsJson(channel: string, query: MessageQuery, caller: Caller): Promise<string> {
    return this.#texts.of(channel, await this.messages(channel, query, caller));
  }

  /**
   * Searches what was said in a channel, from the newest message back. With the history on disk it
   * takes milliseconds, however many messages there are. It ends after a while and tells how far it
   * came; search on from there. An empty channel has no messages.
   *
   * @throws Invalid, Forbidden or NotFound if the caller may not read it, Unavailable if the history
   * cannot be read at the moment, and what {@link join} throws
   */
  async search(channel: string, wanted: ChannelSearch, caller?: Caller): Promise<FoundMessages> {
    const name = readChannelName(channel);
    const { entry, access, searching, sharing } = this.#parts;
    const entered = await entry.visit(name, caller);
    if (entered === null) return { messages: [], searchedTo: null };
    await sharing?.lines.reach(entered);
    const found = await searching.search(entered, wanted);
    access.assertReadable(name, caller);
    return found;
  }

  /**
   * Passes a channel's messages to a follower: the wanted ones in the buffer before this resolves,
   * then each new one, in order, without gaps or duplicates. Messages from before the buffer come
   * page by page, when the follower asks for more. Ends when the caller may no longer read the
   * channel. Joins a channel with members; joins an empty channel only for the operator.
   *
   * @throws Invalid, Forbidden or NotFound if the caller may not read it, and what {@link join}
   * throws
   */
  async follow(
    channel: string,
    start: FollowingStart,
    follower: ChannelFollower,
    caller?: Caller,
  ): Promise<Following> {
    const name = readChannelName(channel);
    const { entry, access, playback, scheduler, sharing } = this.#parts;
    const entered = await entry.visitOrMake(name, caller);
    await sharing?.lines.reach(entered, start.lastEventId ?? start.since);
    const following = await ChannelFollowing.open({ channel: entered, playback, follower }, start);
    try {
      access.assertReadable(name, caller);
    } catch (error) {
      following.close();
      throw error;
    }
    const unwatch = access.watch(name, caller, (reason) => {
      close();
      follower.end(reason);
    });
    const close = () => {
      entered.usedAt = scheduler.now();
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
   * Posts to a channel, and joins it first if the bridge is not in it. Resolves when IRC has
   * confirmed the post.
   *
   * A caller that is a user of the server posts under its own nick. For others, the bridge posts
   * line by line, with the speaker's name in front unless the bridge is the speaker. An envelope is
   * one line and stays unchanged.
   *
   * @throws Invalid and TooLarge for the text, Forbidden if the caller may not use the nick or is
   * paused, TooMany, Conflict if IRC refuses it, TimedOut if IRC does not confirm it, and what
   * {@link join} throws
   */
  async post(channel: string, post: NewPost, caller: Caller): Promise<void> {
    await this.#parts.posting.post(readChannelName(channel), post, caller);
  }

  /**
   * Changes the topic of a channel; an empty text removes it. Resolves when that is stored.
   *
   * @throws Invalid, Conflict if the channel refuses it, and what {@link join} throws
   */
  async setTopic(channel: string, text: string, caller: Caller): Promise<void> {
    await this.#parts.posting.setTopic(readChannelName(channel), text, caller);
  }

  /**
   * Sends a private message, line by line, with the speaker's name in front unless the bridge is
   * the speaker. Resolves when IRC has it. It counts against nobody's rate.
   *
   * @param nick a valid nick
   * @param principal whose credential it needs until it is sent; null for the program's own
   * @throws TooLarge for an envelope, NotFound if nobody has the nick, Conflict if IRC refuses it,
   * TimedOut if IRC does not confirm it
   */
  async tell(
    nick: string,
    post: Composition,
    principal: Principal | null = null,
  ): Promise<void> {
    const permit = this.#parts.authorization.of(principal);
    try {
      await this.whenReady();
      await this.#parts.posting.say(nick, post, { principal, permit });
    } finally {
      permit.end();
    }
  }

  /**
   * Says one line in a channel as the bridge itself, and joins it first. No agent gets it in its
   * inbox, whomever it names. It counts against nobody's rate; what does not fit is cut off.
   *
   * @throws Conflict if IRC refuses it, TimedOut if IRC does not confirm it, TooMany, Unavailable
   */
  async announce(channel: string, text: string, marks?: LineMarks): Promise<void> {
    await this.#parts.posting.announce(readChannelName(channel), text, marks);
  }

  /**
   * Whether a message with this id was said in a channel; false if muster does not store what is said
   * there.
   *
   * @throws Unavailable if the history cannot be read
   */
  async hasSaid(channel: string, id: string): Promise<boolean> {
    const target = { account: null, name: foldCase(readChannelName(channel)) };
    return await this.#options.archive?.has(target, id) ?? false;
  }

  /**
   * The nicks in a channel, sorted: the bridge, members on IRC, and recent visitors over HTTP.
   *
   * @throws NotFound if the bridge is not in the channel or the caller may not know of it,
   * Forbidden if the caller may not read it
   */
  async users(channel: string, caller?: Caller): Promise<string[]> {
    const name = readChannelName(channel);
    const { readiness, access, channels, scheduler, sharing } = this.#parts;
    await readiness.wait();
    access.assertReadable(name, caller);
    await sharing?.readPresence();
    const found = channels.get(name);
    if (found === null) throw new NotFound(`The bridge is not in ${name}`);
    found.usedAt = scheduler.now();
    return found.users(this.#presentAfter());
  }

  /**
   * Records presence over HTTP in a channel. Does nothing if the bridge is not in it. Resolves when
   * other nodes know it.
   *
   * @throws Invalid if the nick is not valid, Forbidden if the caller may not use it, Unavailable
   */
  presence(channel: string, nick: string, caller: Caller): Promise<void> {
    const name = readChannelName(channel);
    if (!isNick(nick)) throw new Invalid('"nick" must be an IRC nick of 1 to 64 characters');
    const speaker = speakerName(caller.principal, nick) ?? this.nick;
    const entered = this.#parts.access.mayRead(name, caller)
      ? this.#parts.channels.get(name)
      : null;
    entered?.setPresent(speaker, this.#parts.scheduler.now());
    if (entered === null || this.#parts.sharing === null) return Promise.resolve();
    return this.#parts.sharing.notePresence(entered, speaker);
  }

  stats(): BridgeStats {
    return {
      channels: this.#parts.channels.list().length,
      received: this.#parts.intake.received,
      posted: this.#parts.intake.posted,
      disconnects: this.#disconnects,
      waiting: this.#readers.waiting,
      cut: this.#cut,
    };
  }

  /** The channels that the bridge is in, as far as the caller may know, sorted by name. */
  #visible(caller: Caller | undefined): Channel[] {
    const { access, channels } = this.#parts;
    return channels.list().filter(({ name }) => access.sees(name, caller));
  }

  async #read(
    entered: Channel,
    query: MessageQuery,
    reader: Holder,
  ): Promise<ChannelMessage[]> {
    const { playback } = this.#parts;
    const { bufferSize } = this.#options;
    const { since, before, limit = bufferSize } = query;
    if (before !== undefined) return await playback.readBefore(entered, before, limit);
    if (since !== undefined && query.onGap !== undefined) {
      const after = await playback.microsecondsOf(entered, since);
      const gap = after === null ? null : await playback.gapAfter(entered, after, since);
      if (gap !== null) query.onGap(gap);
    }
    const missed = since === undefined ? [] : await playback.readAfter(entered, since, limit);
    if (missed.length > 0) return missed;
    return await this.#readers.read(entered.log, { ...query, limit }, reader);
  }

  /** The first messages of a channel that does not exist yet, for a waiting caller. */
  async #firstMessages(
    name: string,
    query: MessageQuery,
    reader: Holder,
  ): Promise<ChannelMessage[]> {
    const { before, waitSeconds = 0, limit = this.#options.bufferSize } = query;
    if (waitSeconds === 0 || before !== undefined) return [];
    const { log, end } = this.#parts.channels.awaitLog(name);
    try {
      return await this.#readers.read(log, { ...query, since: undefined, limit }, reader);
    } finally {
      end();
    }
  }

  /** Presence over HTTP that was noted after this time still counts. */
  #presentAfter(): number {
    return this.#parts.scheduler.now() - this.#options.webUserTtlMilliseconds();
  }

  async #stop(): Promise<void> {
    const reason = "The server is shutting down";
    this.#parts.readiness.end(reason);
    this.#parts.access.close();
    this.#parts.authorization.close();
    this.#parts.sharing?.close();
    this.#parts.channels.close(reason);
    for (const waiting of [this.#parts.outbox, this.#parts.playback]) {
      waiting.clear(new Unavailable(reason));
    }
    await this.#parts.link.stop(reason);
  }

  #handle(event: LinkEvent): void {
    switch (event.kind) {
      case "up":
        return this.#linkUp();
      case "down":
        return this.#linkDown();
      case "message":
        return this.#parts.intake.receive(event);
      case "redaction":
        return this.#parts.intake.redact(event.channel, event.id);
      case "refusal":
        if (event.label === null || this.#parts.playback.refuse(event.label)) break;
        return this.#parts.posting.refuse(event.label, event);
      case "playback":
        return this.#parts.playback.take(event);
    }
    this.#parts.channels.handle(event);
  }

  #linkUp(): void {
    const session = this.#disconnects;
    this.#parts.channels.enterAll().then(() => {
      if (this.#stopping !== null || session !== this.#disconnects) return;
      this.#parts.readiness.begin();
      this.#options.log.info("The bridge is up", { channels: this.channels() });
      this.#options.onUp?.();
    });
  }

  #linkDown(): void {
    this.#parts.readiness.interrupt();
    this.#disconnects++;
    this.#parts.channels.linkLost();
    this.#parts.sharing?.lines.linkLost();
    const error = new Unavailable("The IRC connection was lost");
    for (const waiting of [this.#parts.outbox, this.#parts.playback]) waiting.clear(error);
  }
}

/**
 * Parses the name of a channel in a request, with or without its `#`.
 *
 * @returns the name with `#`
 * @throws Invalid if it is not the name of a channel
 */
export function readChannelName(text: string): string {
  const name = channelName(text);
  if (name !== null) return name;
  throw new Invalid(
    "A channel's name must have 2 to 80 characters, none of them a space, a comma or a control " +
      "character",
  );
}

/** How many kept messages came after a time, in Unix milliseconds; 0 if that is not known. */
function unreadIn({ log }: Channel, readUpTo: number | null): number {
  return readUpTo === null ? 0 : log.countAfter(afterRead(readUpTo));
}

/** The last microsecond of what was read: a read marker names the millisecond of a message. */
function afterRead(readUpTo: number): number {
  return (readUpTo + 1) * 1000 - 1;
}

/** The parts of a bridge. */
interface BridgeParts {
  readonly scheduler: Scheduler;
  readonly readiness: Readiness;
  readonly link: Link;
  readonly outbox: Outbox;
  readonly playback: Playback;
  readonly access: ChannelAccess;
  readonly channels: Channels;
  readonly entry: ChannelEntry;
  readonly intake: Intake;
  readonly searching: Searching;
  readonly posting: Posting;
  readonly authorization: ChannelAuthorization;
  /** Null without nodes. */
  readonly sharing: NodeSharing | null;
}

/**
 * Makes the parts of a bridge, each with those that it needs. Nothing happens before the link starts.
 *
 * @param ears those who hear what the bridge hears, as of the moment
 * @param onEvent called with what happens on IRC
 */
function connectParts(
  options: BridgeOptions,
  ears: ReadonlySet<BridgeEars>,
  onEvent: (event: LinkEvent) => void,
): BridgeParts {
  const { nick, bufferSize, log, speakers, hasChannel } = options;
  const scheduler = options.scheduler ?? systemScheduler;
  const readiness = new Readiness(scheduler);
  const outbox = new Outbox(scheduler, () => hearing.doubt());
  const link = makeLink(options, scheduler, onEvent);
  const hearing = new Hearing({ outbox, link, log });
  const playback = new Playback(link, scheduler, options.archive ?? null);
  const access = new ChannelAccess(speakers ?? null);
  const channels = makeChannels(options, {
    link,
    scheduler,
    recall: (channel) => intake.recall(channel),
    onActivity: (activity) => {
      for (const ear of ears) ear.activity(activity);
    },
  });
  const { nodes = null, webUserTtlMilliseconds } = options;
  const sharing = nodes === null ? null : new NodeSharing({
    nodes,
    find: (folded) => channels.find(folded),
    onLine: (channel, line) => intake.deliver(channel, line),
    onPast: (channel, line) => intake.deliverPast(channel, line),
    bufferSize,
    webUserTtlMilliseconds,
    scheduler,
    log,
  });
  const shared = sharing?.lines ?? null;
  const below = { scheduler, readiness, link, outbox, playback, access, channels, sharing };
  const parts = { ...below, shared, bufferSize, log };
  const { onHeard, onPosted, onRedacted } = options;
  const onLogged: IntakeOptions["onLogged"] = (channel, message, as) => {
    for (const ear of ears) ear.message(channel, message, as);
  };
  const entry = new ChannelEntry({ ...parts, speakers, hasChannel });
  const intake = new Intake({ ...parts, onHeard, onPosted, onRedacted, onLogged });
  const searching = new Searching({ ...parts, archive: options.archive ?? null });
  const authorization = new ChannelAuthorization(options.credentials ?? null);
  const room = () => options.archive?.room() ?? null;
  const { mentions } = options;
  const posting = new Posting({ ...parts, nick, entry, speakers, authorization, room, mentions });
  return { ...below, entry, intake, searching, posting, authorization };
}

function makeLink(
  options: BridgeOptions,
  scheduler: Scheduler,
  onEvent: (event: LinkEvent) => void,
): Link {
  const { nick, connect, log } = options;
  return new Link({
    nick,
    peers: options.nodes?.peers ?? null,
    connect,
    log,
    scheduler,
    login: options.login ?? (() => Promise.resolve(null)),
    serverPassword: options.serverPassword ?? null,
    pace: options.pace ?? null,
    random: options.random ?? Math.random,
    onEvent,
  });
}

function makeChannels(
  options: BridgeOptions,
  parts: Pick<ChannelsOptions, "link" | "scheduler" | "recall" | "onActivity">,
): Channels {
  const { bufferSize, log, speakers, nodes = null } = options;
  return new Channels({
    ...parts,
    bufferSize,
    log,
    kept: options.channels.map(readChannelName),
    max: options.maxChannels,
    maxPerAgent: options.maxChannelsPerAgent,
    keepsAlone: (agent, name) => speakers?.keepsAlone(agent, name) ?? false,
    store: nodes?.channels ?? options.store ?? null,
    nodes,
    restored: options.restored ?? [],
  });
}
