import { Conflict, TimedOut, TooMany, Unavailable } from "../../kernel/errors.ts";
import { foldCase, isChannelName } from "../../engines/irc/mod.ts";
import type { Log } from "../../kernel/log.ts";
import { MessageLog } from "../messages/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { Channel } from "./channel.ts";
import { Confirmation } from "./confirmation.ts";
import {
  LastingChannels,
  type LastingChannelsOptions,
  type StoredChannel,
} from "./lasting_channels.ts";
import type { LinkEvent } from "./link_events.ts";
import type { BridgeNodes } from "./node_sharing.ts";
import type { ChannelsChange } from "./shared_channels.ts";
import type { ChangeListener, ChannelActivity, ChannelChange, ChannelText } from "./types.ts";

/** How long the server may take to confirm a JOIN or PART. */
const CONFIRM_MILLISECONDS = 5000;

/**
 * Most channels that the bridge is in only by invitation and that nobody uses, so that invitations
 * cannot take all places.
 */
const MAX_INVITED = 10;

/** The bridge leaves an unused channel after this time, unless it is configured. */
const IDLE_MILLISECONDS = 60 * 60 * 1000;

/** How often the bridge checks for such channels. */
const SWEEP_MILLISECONDS = 60 * 1000;

/** The connection, as the channels use it. */
interface ChannelLink {
  /** Our nick. */
  readonly nick: string;
  readonly up: boolean;
  /** Milliseconds until a new line would be sent. */
  readonly delay: number;
  join(channel: string): void;
  part(channel: string, reason: string): void;
}

/** For whom the bridge enters a channel, and for how long. */
export interface ChannelUse {
  /** The internal id of an account that acts as itself; null for the operator. */
  readonly agent: string | null;
  /** Whether the bridge rejoins it after a restart; not for readers. */
  readonly lasting: boolean;
}

type ChannelNodes = Pick<BridgeNodes, "channels" | "peers" | "isLeading">;

export interface ChannelsOptions extends LastingChannelsOptions {
  readonly max: number;
  /** Channels that one agent may keep alive alone. */
  readonly maxPerAgent: number;
  /** Whether an agent alone keeps a channel alive. */
  readonly keepsAlone: (agent: string, channel: string) => boolean;
  /** Messages kept for each. */
  readonly bufferSize: number;
  readonly link: ChannelLink;
  /** What the bridges of several nodes share; null without nodes. */
  readonly nodes: ChannelNodes | null;
  /** Reads back earlier messages of a channel that the bridge has entered. Must not reject. */
  readonly recall: (channel: Channel) => Promise<void>;
  /** Called with what happens in a channel, and when the bridge has entered or left it. */
  readonly onActivity: (activity: ChannelActivity) => void;
  readonly scheduler: Scheduler;
}

/**
 * The channels that the bridge is in, compared without regard to case: it enters and leaves them,
 * keeps their members as the server tells, and leaves those that nobody uses. With several nodes, it
 * keeps them equal to those of the other bridges.
 */
export class Channels {
  readonly #options: ChannelsOptions;
  readonly #channels = new Map<string, Channel>();
  readonly #lasting: LastingChannels;
  readonly #logs: AwaitedLogs;
  readonly #news: ChannelNews;
  #cancelSweep: () => void = () => {};

  constructor(options: ChannelsOptions) {
    this.#options = options;
    this.#lasting = new LastingChannels(options);
    this.#logs = new AwaitedLogs(options.bufferSize, options.log);
    this.#news = new ChannelNews(options.link, options.onActivity);
    options.nodes?.channels.follow((change) => this.#follow(change));
  }

  /** A channel that the bridge is in, or was in when the connection was lost. */
  get(name: string): Channel | null {
    const channel = this.#channels.get(foldCase(name));
    return channel === undefined || channel.entering !== null ? null : channel;
  }

  /** A channel that the bridge is in, was in or enters, by its folded name. */
  find(folded: string): Channel | null {
    return this.#channels.get(folded) ?? null;
  }

  /** All channels that {@link get} would find, sorted by name. */
  list(): Channel[] {
    return [...this.#channels.values()]
      .filter(({ entering }) => entering === null)
      .sort((one, other) => one.name < other.name ? -1 : 1);
  }

  /** Whether the bridge is in a channel, or about to enter it. */
  has(name: string): boolean {
    return this.#channels.has(foldCase(name));
  }

  /**
   * Joins a channel, unless the bridge is in it. Resolves when a lasting use is recorded.
   *
   * @throws Conflict if the channel refuses, TooMany, TimedOut, Unavailable
   */
  async enter(name: string, use: ChannelUse): Promise<Channel> {
    const key = foldCase(name);
    // Almost always it waits for nothing, and each `await` would cost a post some microseconds.
    const leaving = this.#channels.get(key)?.leaving ?? null;
    if (leaving !== null) await leaving.promise.catch(() => {});
    const channel = this.#channels.get(key) ?? this.#add(name, use.agent);
    channel.invited = false;
    const now = this.#options.scheduler.now();
    channel.use(use.agent, now);
    this.#options.nodes?.channels.used(name, use.agent, now);
    if (channel.entering !== null) await channel.entering.promise;
    if (channel.recalling !== null) await channel.recalling;
    const noting = use.lasting ? this.#lasting.note(channel, use.agent) : null;
    if (noting !== null) await noting;
    if (this.#channels.get(key) === channel) return channel;
    throw new Conflict(`The bridge was removed from ${channel.name}`);
  }

  /**
   * Forgets that an agent used a channel.
   *
   * @param own the number of the agent's readers of the channel
   * @returns whether nobody else uses it, and the configuration does not name it
   * @throws Unavailable
   */
  async release(
    name: string,
    agent: { readonly id: string; readonly nick: string },
    own: number,
  ): Promise<boolean> {
    const channel = this.get(name);
    if (channel === null) return false;
    channel.forgetUse(agent.id);
    if (this.#lasting.keeps(name) || channel.log.followers > own) return false;
    const after = this.#options.scheduler.now() - IDLE_MILLISECONDS;
    if (channel.isUsed(after) || channel.hasOthers(...this.ownNicks, agent.nick)) return false;
    const { nodes } = this.#options;
    return nodes === null || await nodes.channels.release(name, agent.id, after);
  }

  /** The nicks of this bridge and those of other nodes. */
  get ownNicks(): readonly string[] {
    return [this.#options.link.nick, ...this.#options.nodes?.peers.nicks ?? []];
  }

  /** As {@link AwaitedLogs.await}. */
  awaitLog(name: string): { readonly log: MessageLog<ChannelText>; readonly end: () => void } {
    return this.#logs.await(name);
  }

  /**
   * Leaves a channel, if the bridge is in it, and does not rejoin on its own.
   *
   * @throws TimedOut
   */
  async leave(name: string, reason: string): Promise<void> {
    await this.#lasting.forget(name);
    await this.#depart(name, reason);
  }

  /** Leaves a channel, as far as IRC is concerned. */
  async #depart(name: string, reason: string): Promise<void> {
    const key = foldCase(name);
    await this.#channels.get(key)?.entering?.promise.catch(() => {});
    const channel = this.#channels.get(key);
    if (channel === undefined) return;
    if (channel.leaving === null) {
      channel.leaving = this.#confirmation(`IRC did not confirm in time that ${name} is left`);
      this.#options.link.part(channel.name, reason);
    }
    const { leaving } = channel;
    try {
      await leaving.promise;
    } finally {
      if (channel.leaving === leaving) channel.leaving = null;
    }
  }

  /**
   * Enters the channels that the bridge was in and those that it keeps. Resolves when each JOIN is
   * answered.
   */
  async enterAll(): Promise<void> {
    for (const name of this.#lasting.kept) {
      if (!this.has(name)) this.#create(name);
    }
    this.#restore(this.#options.nodes?.channels.current ?? this.#lasting.takeRestored());
    const channels = [...this.#channels.values()];
    await Promise.allSettled(channels.map((channel) => this.#request(channel)));
    this.#scheduleSweep();
  }

  /** Ends every wait for the lost server. The channels stay, with their readers. */
  linkLost(): void {
    this.#cancelSweep();
    const error = new Unavailable("The IRC connection was lost");
    for (const channel of [...this.#channels.values()]) {
      const { entering } = channel;
      channel.entering = null;
      entering?.refuse(error);
      if (channel.leaving !== null || !channel.entered) {
        this.#drop(channel, "The bridge left the channel");
      }
    }
  }

  /** Ends everything. */
  close(reason: string): void {
    this.linkLost();
    this.#logs.close(reason);
    for (const channel of [...this.#channels.values()]) this.#drop(channel, reason);
  }

  /** As {@link ChannelNews.onChanged}. */
  onChanged(listener: ChangeListener): () => void {
    return this.#news.onChanged(listener);
  }

  /** Updates the members of channels. */
  handle(event: LinkEvent): void {
    switch (event.kind) {
      case "join":
        return this.#joined(event.channel, event.nick, event.account);
      case "part":
        return this.#parted(event.channel, event.nick, event.by ?? null);
      case "quit":
        for (const channel of this.#channels.values()) {
          if (this.#removeMember(channel, event.nick)) this.#news.note(channel, "quit", event.nick);
        }
        return;
      case "nick":
        for (const channel of this.#channels.values()) {
          if (!channel.renameMember(event.from, event.to)) continue;
          this.#news.tell(channel, { kind: "left", nick: event.from });
          this.#news.tell(channel, { kind: "joined", nick: event.to });
          this.#news.note(channel, "nick", event.from, { to: event.to });
        }
        return;
      case "names":
        return this.#named(event.channel, event.nicks);
      case "topic": {
        const channel = this.#channels.get(foldCase(event.channel));
        if (channel === undefined) return;
        channel.topic = event.topic;
        return this.#news.tell(channel, { kind: "topic", topic: event.topic });
      }
      case "invite":
        return this.#invited(event.channel);
      case "refusal":
        return this.#refused(event.channel, event.reason);
    }
  }

  /** Does what the bridge of another node has done. */
  #follow({ current, removed }: ChannelsChange): void {
    for (const stored of current) {
      const channel = this.find(foldCase(stored.name)) ?? this.#enterAlong(stored);
      if (channel === null) continue;
      channel.opener = stored.opener;
      channel.stored ??= Promise.resolve();
    }
    for (const folded of removed) {
      this.#lasting.leftElsewhere(folded);
      const channel = this.find(folded);
      if (channel !== null) this.#leaveAlong(channel);
    }
  }

  /** Enters a channel, if there is room and a connection. */
  #enterAlong({ name }: StoredChannel): Channel | null {
    const { link, max } = this.#options;
    if (!link.up || this.#channels.size >= max) return null;
    const channel = this.#create(name);
    void this.#request(channel);
    return channel;
  }

  #leaveAlong(channel: Channel): void {
    const { link, log } = this.#options;
    const reason = "Another node was asked to leave";
    if (!link.up) return this.#drop(channel, reason);
    this.#depart(channel.name, reason).catch((error: unknown) => {
      log.warn("The bridge could not leave a channel", { channel: channel.name, error });
    });
  }

  #add(name: string, agent: string | null): Channel {
    if (!this.#options.link.up) throw new Unavailable("The IRC connection was lost");
    if (this.#channels.size >= this.#options.max) {
      throw new TooMany(`The bridge is in ${this.#options.max} channels, which is the limit`);
    }
    if (agent !== null) this.#assertFew(agent, name);
    const channel = this.#create(name);
    channel.opener = agent;
    this.#request(channel);
    return channel;
  }

  /** @throws TooMany if an agent keeps as many channels alive as it may */
  #assertFew(agent: string, name: string): void {
    const { maxPerAgent, keepsAlone } = this.#options;
    const isCounted = (channel: string) =>
      !this.#lasting.keeps(channel) && keepsAlone(agent, channel);
    if (!isCounted(name)) return;
    const own = [...this.#channels.values()]
      .filter((channel) => channel.opener === agent && isCounted(channel.name));
    if (own.length < maxPerAgent) return;
    throw new TooMany(
      `You keep ${own.length} channels alive that nobody else is in, which is the limit: ` +
        "leave one of them first",
    );
  }

  /** Restores the channels from before the restart, to be entered with the others. */
  #restore(restored: readonly StoredChannel[]): void {
    const { max, scheduler } = this.#options;
    for (const { name, opener } of restored) {
      if (this.has(name) || this.#channels.size >= max) continue;
      const channel = this.#create(name);
      channel.opener = opener;
      channel.stored = Promise.resolve();
      channel.use(opener, scheduler.now());
    }
  }

  #create(name: string): Channel {
    const channel = new Channel(name, this.#logs.take(name), this.#options.scheduler.now());
    this.#channels.set(foldCase(name), channel);
    return channel;
  }

  /** Sends JOIN. The promise never rejects: a channel that refuses is dropped. */
  async #request(channel: Channel): Promise<void> {
    const entering = this.#confirmation(
      `IRC did not confirm in time that the bridge is in ${channel.name}`,
    );
    channel.entering = entering;
    this.#options.link.join(channel.name);
    try {
      await entering.promise;
    } catch (error) {
      if (channel.entering !== entering) return;
      this.#options.log.warn("The bridge is not in a channel", { channel: channel.name, error });
      this.#drop(channel, "The bridge could not enter the channel");
    }
  }

  #confirmation(message: string): Confirmation {
    const { scheduler, link } = this.#options;
    const milliseconds = CONFIRM_MILLISECONDS + link.delay;
    return new Confirmation(scheduler, milliseconds, () => new TimedOut(message));
  }

  #drop(channel: Channel, reason: string): void {
    const key = foldCase(channel.name);
    if (this.#channels.get(key) === channel) this.#channels.delete(key);
    if (channel.entered) this.#news.note(channel, "part", this.#options.link.nick);
    channel.log.end(reason);
    channel.leaving?.confirm();
  }

  #joined(name: string, nick: string, account: string | null): void {
    const channel = this.#channels.get(foldCase(name));
    if (channel !== undefined) {
      if (this.#news.isUs(nick)) channel.name = name;
      channel.addMember(nick);
      this.#news.tell(channel, { kind: "joined", nick });
      if (!this.#news.isUs(nick)) this.#news.note(channel, "join", nick, { account });
      return;
    }
    if (!this.#news.isUs(nick) || !isChannelName(name)) return;
    // A late confirmation, or an operator of the network made us join.
    if (this.#channels.size >= this.#options.max) {
      return this.#options.link.part(name, "Too many channels");
    }
    this.#create(name).addMember(nick);
  }

  #parted(name: string, nick: string, by: string | null): void {
    const channel = this.#channels.get(foldCase(name));
    if (channel === undefined) return;
    if (this.#removeMember(channel, nick) && !this.#news.isUs(nick)) {
      this.#news.note(channel, by === null ? "part" : "kick", nick, { by });
    }
    if (!this.#news.isUs(nick)) return;
    this.#drop(channel, "The bridge left the channel");
    if (channel.leaving === null) this.#lasting.removedFrom(channel);
  }

  /** @returns whether it was a member */
  #removeMember(channel: Channel, nick: string): boolean {
    if (!channel.removeMember(nick)) return false;
    this.#news.tell(channel, { kind: "left", nick });
    return true;
  }

  #named(name: string, nicks: readonly string[]): void {
    const channel = this.#channels.get(foldCase(name));
    if (channel === undefined) return;
    channel.setMembers(nicks);
    const isNew = !channel.entered;
    channel.entered = true;
    if (isNew) this.#news.note(channel, "join", this.#options.link.nick);
    if (channel.invited || channel.entering === null) this.#share(channel);
    if (channel.entering === null) return;
    const recalling = this.#options.recall(channel).then(() => {
      if (channel.recalling === recalling) channel.recalling = null;
    });
    channel.recalling = recalling;
    channel.entering.confirm();
    channel.entering = null;
  }

  /** Lets other nodes enter a channel that nobody asked this one for. */
  #share(channel: Channel): void {
    if (this.#options.nodes === null) return;
    this.#lasting.note(channel, null)?.catch((error: unknown) => {
      const { name } = channel;
      this.#options.log.warn("Other nodes could not be told of a channel", {
        channel: name,
        error,
      });
    });
  }

  #invited(name: string): void {
    const { max, log } = this.#options;
    if (this.#channels.has(foldCase(name)) || !isChannelName(name)) return;
    const invited = [...this.#channels.values()].filter((channel) => channel.invited).length;
    if (invited >= MAX_INVITED || this.#channels.size >= max) {
      return log.info("An invitation is not followed: too many channels", { channel: name });
    }
    this.#add(name, null).invited = true;
  }

  #refused(name: string, reason: string): void {
    const channel = this.#channels.get(foldCase(name));
    if (channel === undefined) return;
    channel.entering?.refuse(new Conflict(`${channel.name} refuses the bridge: ${reason}`));
    if (channel.leaving !== null) this.#drop(channel, "The bridge left the channel");
  }

  #scheduleSweep(): void {
    this.#cancelSweep();
    this.#cancelSweep = this.#options.scheduler.after(SWEEP_MILLISECONDS, () => this.#sweep());
  }

  /** Leaves unused channels, and rejoins kept channels that the bridge was removed from. */
  #sweep(): void {
    this.#scheduleSweep();
    this.#noteUses();
    for (const channel of [...this.#channels.values()]) {
      if (!this.#isIdle(channel)) continue;
      this.#leaveIdle(channel.name).catch((error: unknown) => {
        const { name } = channel;
        this.#options.log.warn("The bridge could not leave an idle channel", {
          channel: name,
          error,
        });
      });
    }
    for (const name of this.#lasting.kept) {
      if (!this.has(name)) void this.#request(this.#create(name));
    }
  }

  /** Tells other nodes of uses of channels that have no agent, such as open streams. */
  #noteUses(): void {
    const { nodes, scheduler, log } = this.#options;
    if (nodes === null) return;
    for (const channel of this.#channels.values()) {
      const at = channel.log.followers > 0 ? scheduler.now() : channel.anonymousUse;
      if (at !== null) nodes.channels.used(channel.name, null, at);
    }
    nodes.channels.flush().catch((error: unknown) => {
      log.warn("The use of channels could not be stored", { error });
    });
  }

  #isIdle({ name, log, usedAt, entering }: Channel): boolean {
    if (this.#lasting.keeps(name)) return false;
    if (this.#options.scheduler.now() - usedAt < IDLE_MILLISECONDS) return false;
    return log.followers === 0 && entering === null;
  }

  async #leaveIdle(name: string): Promise<void> {
    const { nodes, scheduler } = this.#options;
    if (nodes !== null) {
      // Other nodes note uses once in a sweep. The leader decides, for all nodes.
      const after = scheduler.now() - IDLE_MILLISECONDS - 2 * SWEEP_MILLISECONDS;
      if (!nodes.isLeading() || !await nodes.channels.release(name, null, after)) return;
    }
    await this.leave(name, "Nobody reads here");
  }
}

/** Tells what happens in the bridge's channels. */
class ChannelNews {
  readonly #bridge: { readonly nick: string };
  readonly #onActivity: (activity: ChannelActivity) => void;
  readonly #listeners = new Set<ChangeListener>();

  /** @param bridge its nick at any time */
  constructor(bridge: { readonly nick: string }, onActivity: (activity: ChannelActivity) => void) {
    this.#bridge = bridge;
    this.#onActivity = onActivity;
  }

  /**
   * Calls a listener with the changes of channels that somebody follows.
   *
   * @returns a function that ends the subscription
   */
  onChanged(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells listeners of a change, if somebody follows the channel. */
  tell({ log }: Channel, change: ChannelChange): void {
    if (log.followers === 0) return;
    for (const listener of this.#listeners) listener(log, change);
  }

  /** Tells what somebody did in a channel. */
  note(
    { name }: Channel,
    kind: ChannelActivity["kind"],
    nick: string,
    { account = null, by = null, to = null }: Partial<
      Pick<ChannelActivity, "account" | "by" | "to">
    > = {},
  ): void {
    const isBridge = this.isUs(nick);
    this.#onActivity({ kind, channel: name, nick, account, by, to, isBridge });
  }

  /** Whether a nick is that of the bridge. */
  isUs(nick: string): boolean {
    return foldCase(nick) === foldCase(this.#bridge.nick);
  }
}

interface AwaitedLog {
  readonly log: MessageLog<ChannelText>;
  waiting: number;
}

/**
 * Creates the message logs of channels. A reader may wait for a channel that the bridge is not in;
 * when the bridge enters it, the channel gets the log that the reader waits on.
 */
class AwaitedLogs {
  readonly #capacity: number;
  readonly #report: Log;
  /** By the channel's folded name. */
  readonly #awaited = new Map<string, AwaitedLog>();

  /** @param capacity messages kept for each channel */
  constructor(capacity: number, report: Log) {
    this.#capacity = capacity;
    this.#report = report;
  }

  /**
   * The log of a channel that the bridge is not in, for a reader who waits for it.
   *
   * @returns the log, and a function that ends the wait
   */
  await(name: string): { readonly log: MessageLog<ChannelText>; readonly end: () => void } {
    const key = foldCase(name);
    const awaited = this.#awaited.get(key) ?? { log: this.#newLog(name), waiting: 0 };
    this.#awaited.set(key, awaited);
    awaited.waiting++;
    const end = () => {
      awaited.waiting--;
      if (awaited.waiting === 0 && this.#awaited.get(key) === awaited) this.#awaited.delete(key);
    };
    return { log: awaited.log, end };
  }

  /** The log for a channel that the bridge enters: the one that readers wait on, or a new one. */
  take(name: string): MessageLog<ChannelText> {
    const key = foldCase(name);
    const log = this.#awaited.get(key)?.log ?? this.#newLog(name);
    this.#awaited.delete(key);
    return log;
  }

  /** Ends the wait of every reader. */
  close(reason: string): void {
    for (const { log } of this.#awaited.values()) log.end(reason);
  }

  #newLog(name: string): MessageLog<ChannelText> {
    return new MessageLog<ChannelText>({
      capacity: this.#capacity,
      onFailure: (error) => {
        this.#report.error("A reader of a channel failed", { channel: name, error });
      },
    });
  }
}
