import { Invalid, Unavailable } from "../errors.ts";
import { type Caller, type Principal, speakerName } from "../identity/mod.ts";
import { type ChannelStanding, foldCase, isNick } from "../irc/mod.ts";
import type { MessageQuery } from "../messages/mod.ts";
import type { ChannelAccess } from "./access.ts";
import { connectParts } from "./bridge_parts.ts";
import type { ChannelEntry } from "./channel_entry.ts";
import type { ChannelReading } from "./channel_reading.ts";
import type { Channels } from "./channels.ts";
import type { Composition } from "./composition.ts";
import type { FollowingStart } from "./following.ts";
import type { Intake } from "./intake.ts";
import type { Link } from "./link.ts";
import type { LinkEvent } from "./link_events.ts";
import { readChannelName } from "./names.ts";
import type { NodeSharing } from "./node_sharing.ts";
import type {
  BridgeEars,
  BridgeOptions,
  BridgeStats,
  ChangeListener,
  ChannelFollower,
  ChannelMessage,
  ChannelOverview,
  ChannelSearch,
  ChannelSummary,
  Following,
  FoundMessages,
  NewPost,
} from "./options.ts";
import type { Outbox } from "./outbox.ts";
import type { ChannelAuthorization } from "./authorization.ts";
import type { Playback } from "./playback.ts";
import type { LineMarks, Posting } from "./posting.ts";
import type { Readiness } from "./readiness.ts";
import type { Scheduler } from "../scheduler.ts";
import type { MessageArchive } from "./searching.ts";

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
  readonly #scheduler: Scheduler;
  readonly #readiness: Readiness;
  readonly #link: Link;
  readonly #outbox: Outbox;
  readonly #playback: Playback;
  readonly #access: ChannelAccess;
  readonly #channels: Channels;
  readonly #entry: ChannelEntry;
  readonly #intake: Intake;
  readonly #reading: ChannelReading;
  readonly #posting: Posting;
  readonly #archive: Pick<MessageArchive, "has"> | null;
  readonly #authorization: ChannelAuthorization;
  readonly #sharing: NodeSharing | null;
  readonly #ears = new Set<BridgeEars>();
  #stopping: Promise<void> | null = null;
  #disconnects = 0;

  constructor(options: BridgeOptions) {
    const parts = connectParts(options, this.#ears, (event) => this.#handle(event));
    this.nick = options.nick;
    this.#options = options;
    this.#scheduler = parts.scheduler;
    this.#readiness = parts.readiness;
    this.#link = parts.link;
    this.#outbox = parts.outbox;
    this.#playback = parts.playback;
    this.#access = parts.access;
    this.#channels = parts.channels;
    this.#entry = parts.entry;
    this.#intake = parts.intake;
    this.#reading = parts.reading;
    this.#posting = parts.posting;
    this.#archive = options.archive ?? null;
    this.#authorization = parts.authorization;
    this.#sharing = parts.sharing;
  }

  /** Whether it is connected and in its channels, and IRC echoes its messages. */
  get ready(): boolean {
    return this.#readiness.up && !this.#outbox.silent;
  }

  /** Whether a nick is in one of the bridge's channels, or in the given one. */
  sees(nick: string, channel?: string): boolean {
    if (channel !== undefined) return this.#channels.get(channel)?.hasMember(nick) ?? false;
    return this.#channels.list().some((one) => one.hasMember(nick));
  }

  /** The relation of a nick to a channel, as far as the bridge sees; it knows no modes. */
  standing(nick: string, channel: string): ChannelStanding {
    const found = this.#channels.get(channel);
    const member = found?.hasMember(nick) ?? false;
    return { exists: found !== null, member, visible: true, refusal: null };
  }

  /** Whether the bridge sees only itself and this nick in a channel. */
  isAlone(nick: string, channel: string): boolean {
    return !(this.#channels.get(channel)?.hasOthers(...this.#channels.ownNicks, nick) ?? false);
  }

  /** Connects, and reconnects whenever the connection is lost. */
  start(): void {
    this.#sharing?.start();
    this.#link.start();
  }

  /** Ends every reader and leaves the network. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** Resolves when the bridge is up. */
  whenReady(): Promise<void> {
    return this.#readiness.wait();
  }

  /** The names of the channels that the bridge is in, as far as the caller may know, sorted. */
  channels(caller?: Caller): string[] {
    return this.#reading.list(caller).map(({ name }) => name);
  }

  /** The channels that the bridge is in, as far as the caller may know, sorted by name. */
  summaries(caller?: Caller): ChannelSummary[] {
    return this.#reading.summaries(caller);
  }

  /**
   * The channels that the bridge is in and the caller may read, sorted by name.
   *
   * @param readUpTo how far the caller has read a channel, in Unix milliseconds; null if unknown
   */
  overviews(caller: Caller, readUpTo: (channel: string) => number | null): ChannelOverview[] {
    return this.#reading.overviews(caller, readUpTo);
  }

  /**
   * The messages in memory after a time in Unix milliseconds; none for null. It checks no access.
   */
  unread(channel: string, readUpTo: number | null): readonly ChannelMessage[] {
    return this.#reading.unread(channel, readUpTo);
  }

  /** The topic of a channel; empty if it has none or the bridge is not in it. It checks no access. */
  topic(channel: string): string {
    return this.#channels.get(readChannelName(channel))?.topic ?? "";
  }

  /** Whether the caller may read a channel, or could if it existed. */
  mayRead(channel: string, caller: Caller): boolean {
    return this.#access.mayRead(readChannelName(channel), caller);
  }

  /** Whether a channel has members, as far as the bridge knows. It checks no access. */
  exists(channel: string): boolean {
    return this.#entry.exists(readChannelName(channel));
  }

  /**
   * Calls a listener with each change of members and topics of channels that somebody follows.
   *
   * @returns a function that ends the subscription
   */
  onChanged(listener: ChangeListener): () => void {
    return this.#channels.onChanged(listener);
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
    await this.#entry.join(readChannelName(channel), caller);
  }

  /**
   * Leaves a channel and ends its readers. Does nothing if the bridge is not in the channel. If an
   * agent leaves, the bridge stays while somebody else uses the channel or the configuration names it.
   *
   * @throws TimedOut, Unavailable
   */
  async part(channel: string, caller?: Caller): Promise<void> {
    await this.#entry.part(readChannelName(channel), caller);
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
    return await this.#reading.messages(readChannelName(channel), query, caller);
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
    return await this.#reading.search(readChannelName(channel), wanted, caller);
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
    return await this.#reading.follow(readChannelName(channel), start, follower, caller);
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
    await this.#posting.post(readChannelName(channel), post, caller);
  }

  /**
   * Changes the topic of a channel; an empty text removes it. Resolves when that is stored.
   *
   * @throws Invalid, Conflict if the channel refuses it, and what {@link join} throws
   */
  async setTopic(channel: string, text: string, caller: Caller): Promise<void> {
    await this.#posting.setTopic(readChannelName(channel), text, caller);
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
    const permit = this.#authorization.of(principal);
    try {
      await this.whenReady();
      await this.#posting.say(nick, post, { principal, permit });
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
    await this.#posting.announce(readChannelName(channel), text, marks);
  }

  /**
   * Whether a message with this id was said in a channel; false if muster does not store what is said
   * there.
   *
   * @throws Unavailable if the history cannot be read
   */
  async hasSaid(channel: string, id: string): Promise<boolean> {
    const target = { account: null, name: foldCase(readChannelName(channel)) };
    return await this.#archive?.has(target, id) ?? false;
  }

  /**
   * The nicks in a channel, sorted: the bridge, members on IRC, and recent visitors over HTTP.
   *
   * @throws NotFound if the bridge is not in the channel or the caller may not know of it,
   * Forbidden if the caller may not read it
   */
  async users(channel: string, caller?: Caller): Promise<string[]> {
    return await this.#reading.users(readChannelName(channel), caller);
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
    const entered = this.#access.mayRead(name, caller) ? this.#channels.get(name) : null;
    entered?.setPresent(speaker, this.#scheduler.now());
    if (entered === null || this.#sharing === null) return Promise.resolve();
    return this.#sharing.notePresence(entered, speaker);
  }

  stats(): BridgeStats {
    return {
      channels: this.#channels.list().length,
      received: this.#intake.received,
      posted: this.#intake.posted,
      disconnects: this.#disconnects,
      waiting: this.#reading.waiting,
      cut: this.#reading.cut,
    };
  }

  async #stop(): Promise<void> {
    const reason = "The server is shutting down";
    this.#readiness.end(reason);
    this.#access.close();
    this.#authorization.close();
    this.#sharing?.close();
    this.#channels.close(reason);
    for (const waiting of [this.#outbox, this.#playback]) waiting.clear(new Unavailable(reason));
    await this.#link.stop(reason);
  }

  #handle(event: LinkEvent): void {
    switch (event.kind) {
      case "up":
        return this.#linkUp();
      case "down":
        return this.#linkDown();
      case "message":
        return this.#intake.receive(event);
      case "redaction":
        return this.#intake.redact(event.channel, event.id);
      case "refusal":
        if (event.label === null || this.#playback.refuse(event.label)) break;
        return this.#posting.refuse(event.label, event);
      case "playback":
        return this.#playback.take(event);
    }
    this.#channels.handle(event);
  }

  #linkUp(): void {
    const session = this.#disconnects;
    this.#channels.enterAll().then(() => {
      if (this.#stopping !== null || session !== this.#disconnects) return;
      this.#readiness.begin();
      this.#options.log.info("The bridge is up", { channels: this.channels() });
      this.#options.onUp?.();
    });
  }

  #linkDown(): void {
    this.#readiness.interrupt();
    this.#disconnects++;
    this.#channels.linkLost();
    this.#sharing?.lines.linkLost();
    const error = new Unavailable("The IRC connection was lost");
    for (const waiting of [this.#outbox, this.#playback]) waiting.clear(error);
  }
}
