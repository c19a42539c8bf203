import { Conflict, Invalid, NotFound, TooLarge, Unavailable } from "../errors.ts";
import { type Caller, speakerName } from "../identity/mod.ts";
import { foldCase, isNick } from "../irc/mod.ts";
import { checkQuery, type MessageQuery, MessageReaders } from "../messages/mod.ts";
import type { Channel, HeldMessage } from "./channel.ts";
import { Channels } from "./channels.ts";
import { Confirmation } from "./confirmation.ts";
import { parseEnvelope } from "./envelope.ts";
import { Link } from "./link.ts";
import type { LinkEvent, LinkMessage } from "./link_events.ts";
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
import { Past } from "./past.ts";
import { type Scheduler, systemScheduler } from "../scheduler.ts";
import { textOf, textOfSent } from "./shown.ts";
import { byteLength, linesOf, splitLine } from "./text.ts";

/** How long a request waits for the bridge to be up. */
const READY_MILLISECONDS = 5000;

/** Most readers that wait at once. */
const MAX_WAITING = 5000;

/** Room for text that is left in a line however long the names are. */
const LEAST_ROOM_BYTES = 64;

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
  readonly #past: Past;
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
    this.#outbox = new Outbox(this.#scheduler);
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
    this.#past = new Past(this.#link, this.#scheduler);
    this.#channels = new Channels({
      kept: channels.map(readChannelName),
      max: maxChannels,
      bufferSize,
      link: this.#link,
      recall: (channel) => this.#recall(channel),
      scheduler: this.#scheduler,
      log,
    });
  }

  /** Whether it is connected and in its channels. */
  get ready(): boolean {
    return this.#ready;
  }

  /** Whether a nick is in one of the channels that the bridge is in, or in the one given. */
  sees(nick: string, channel?: string): boolean {
    if (channel !== undefined) return this.#channels.get(channel)?.hasMember(nick) ?? false;
    return this.#channels.list().some((one) => one.hasMember(nick));
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

  /** The names of the channels that the bridge is in, sorted, with `#`. */
  channels(): string[] {
    return this.#channels.list().map(({ name }) => name);
  }

  /** The channels that the bridge is in, sorted by name. */
  summaries(): ChannelSummary[] {
    const after = this.#presentAfter();
    return this.#channels.list().map((channel) => {
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
    const { name } = await this.#enter(wanted);
    const refusal = this.#userOf(caller)?.join(name) ?? null;
    if (refusal !== null) throw new Conflict(`${name} refuses you: ${refusal}`);
  }

  /**
   * Leaves a channel and ends its readers. Where the bridge is not in it, nothing happens. A caller
   * who is a user of the server leaves it too.
   *
   * @throws TimedOut
   */
  async part(channel: string, caller?: Caller): Promise<void> {
    const name = readChannelName(channel);
    await this.whenReady();
    this.#userOf(caller)?.part(name);
    await this.#channels.leave(name, "Asked to leave");
  }

  /**
   * Reads messages, oldest first: without `since` the newest, with it the first ones that came
   * after, with `before` the last ones that came before. What the bridge keeps no more it asks the
   * IRC server for. Joins the channel where the bridge is not in it.
   *
   * @throws Invalid, and what {@link join} throws
   */
  async messages(channel: string, query: MessageQuery): Promise<ChannelMessage[]> {
    const { bufferSize } = this.#options;
    const name = readChannelName(channel);
    checkQuery(query, bufferSize);
    const { since, before, limit = bufferSize } = query;
    const entered = await this.#enter(name);
    if (before !== undefined) return await this.#past.readBefore(entered, before, limit);
    const missed = since === undefined ? [] : await this.#past.readAfter(entered, since, limit);
    return missed.length > 0 ? missed : await this.#readers.read(entered.log, { ...query, limit });
  }

  /**
   * Hands a channel's messages to a follower: what came after `since`, if given, before this
   * resolves, then each new one; in order, without a gap, none twice. Joins the channel where the
   * bridge is not in it.
   *
   * @throws Invalid, and what {@link join} throws
   */
  async follow(
    channel: string,
    options: { readonly since?: string | undefined },
    follower: ChannelFollower,
  ): Promise<Following> {
    const entered = await this.#enter(readChannelName(channel));
    const unfollow = entered.log.follow(options.since, follower);
    const close = () => {
      entered.usedAt = this.#scheduler.now();
      unfollow();
    };
    const cut = () => {
      this.#cut++;
      close();
    };
    return { close, cut };
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
  async post(channel: string, { nick, text }: NewPost, caller: Caller): Promise<void> {
    const name = readChannelName(channel);
    const speaker = this.#speaker(nick ?? null, caller);
    const lines = linesOf(text);
    const envelope = parseEnvelope(text);
    if (envelope !== null) {
      speakerName(caller.principal, envelope.from);
      if (lines.length > 1) throw new Invalid("An envelope must be one line");
    }
    this.#options.speakers?.requireVoice(caller.principal);
    const entered = await this.#enter(name);
    if (!this.#link.up) throw new Unavailable("The IRC connection was lost");
    const user = this.#userOf(caller);
    const saidFor = foldCase(speaker) === foldCase(this.nick)
      ? null
      : { nick: speaker, account: accountOf(caller) };
    const bare = user !== null || envelope !== null || saidFor === null;
    const prefix = bare ? "" : `[${speaker}] `;
    const space = (user ?? this.#link).room(entered.name) - byteLength(prefix);
    const room = Math.max(space, LEAST_ROOM_BYTES);
    if (envelope !== null && byteLength(text) > room) {
      throw new TooLarge(`An envelope must fit in one IRC message, here ${room} bytes`);
    }
    const pieces = lines.flatMap((line) => splitLine(line, room));
    const delay = user === null ? this.#link.admit(pieces.length) : 0;
    this.#options.speakers?.admit(caller.principal, pieces.length);
    if (user !== null) return await this.#sayAs(user, entered.name, pieces);
    const { labels, confirmed } = this.#outbox.add(
      pieces.map((text) => ({ nick: speaker, text, speaker: saidFor })),
      delay,
    );
    this.#link.say(entered.name, pieces.map((piece) => `${prefix}${piece}`), labels, saidFor);
    await confirmed;
    entered.setPresent(speaker, this.#scheduler.now());
  }

  /**
   * The nicks in a channel, sorted: the bridge, who is there on IRC, and who was there over HTTP
   * lately.
   *
   * @throws NotFound where the bridge is not in the channel
   */
  async users(channel: string): Promise<string[]> {
    const name = readChannelName(channel);
    await this.whenReady();
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
    this.#channels.close(reason);
    this.#outbox.clear(new Unavailable(reason));
    this.#past.clear(new Unavailable(reason));
    await this.#link.stop(reason);
  }

  async #enter(name: string) {
    await this.whenReady();
    return await this.#channels.enter(name);
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
        return this.#channels.get(event.channel)?.log.remove(({ id }) => isLineOf(event.id, id));
      case "refusal":
        if (event.label === null || this.#past.refuse(event.label)) break;
        return this.#outbox.refuse(event.label, event.reason);
      case "playback":
        return this.#past.take(event);
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
    this.#past.clear(error);
  }

  /** Takes a message in for its channel: one of ours under the name that it was sent for. */
  #receive(heard: LinkMessage): void {
    const { label } = heard;
    const sent = label === null ? null : this.#outbox.confirm(label);
    if (sent === null && heard.text === "") return;
    if (sent !== null) this.#posted++;
    const found = this.#channels.get(heard.channel);
    if (found !== null) {
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
    if (!this.#past.available) return;
    channel.held = [];
    const { name, log } = channel;
    await this.#past.fill(channel, this.#options.bufferSize).catch((error: unknown) => {
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

/** The account by which somebody calls; null for the API token, which belongs to nobody. */
function accountOf({ principal: { kind, name } }: Caller): string | null {
  return kind === "operator" ? null : name;
}
