import { Conflict, TimedOut, TooMany, Unavailable } from "../errors.ts";
import { foldCase } from "../irc/mod.ts";
import type { MessageLog } from "../messages/mod.ts";
import { AwaitedLogs } from "./awaited_logs.ts";
import { Channel } from "./channel.ts";
import { ChannelEvents } from "./channel_events.ts";
import { ChannelNews } from "./channel_news.ts";
import { Confirmation } from "./confirmation.ts";
import { IDLE_MILLISECONDS, IdleSweep } from "./idle_sweep.ts";
import { LastingChannels, type LastingChannelsOptions } from "./lasting_channels.ts";
import type { LinkEvent } from "./link_events.ts";
import { type FollowingChannels, NodeChannels, type NodeChannelsOptions } from "./node_channels.ts";
import type { ChangeListener, ChannelActivity, ChannelText } from "./options.ts";
import type { Scheduler } from "../scheduler.ts";
import type { StoredChannel } from "./stored_channels.ts";

/** How long the server may take to confirm a JOIN or PART. */
const CONFIRM_MILLISECONDS = 5000;

/** The connection, as the channels use it. */
export interface ChannelLink {
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
  readonly nodes: NodeChannelsOptions["nodes"] | null;
  /** Reads back earlier messages of a channel that the bridge has entered. Must not reject. */
  readonly recall: (channel: Channel) => Promise<void>;
  /** Called with what happens in a channel, and when the bridge has entered or left it. */
  readonly onActivity: (activity: ChannelActivity) => void;
  readonly scheduler: Scheduler;
}

/** The channels that the bridge is in, compared without regard to case. */
export class Channels {
  readonly #options: ChannelsOptions;
  readonly #channels = new Map<string, Channel>();
  readonly #lasting: LastingChannels;
  /** Null without nodes. */
  readonly #nodes: NodeChannels | null;
  readonly #logs: AwaitedLogs;
  readonly #news: ChannelNews;
  readonly #events: ChannelEvents;
  readonly #sweep: IdleSweep;

  constructor(options: ChannelsOptions) {
    this.#options = options;
    this.#nodes = options.nodes === null ? null : this.#withNodes(options.nodes);
    this.#lasting = new LastingChannels(options);
    this.#logs = new AwaitedLogs(options.bufferSize, options.log);
    this.#news = new ChannelNews(options.link, options.onActivity);
    this.#events = new ChannelEvents({
      channels: this.#channels,
      news: this.#news,
      lasting: this.#lasting,
      hasNodes: this.#nodes !== null,
      link: options.link,
      max: options.max,
      recall: options.recall,
      create: (name) => this.#create(name),
      enter: (name) => this.#add(name, null),
      drop: (channel, reason) => this.#drop(channel, reason),
      log: options.log,
    });
    this.#sweep = new IdleSweep({
      channels: () => this.#channels.values(),
      lasting: this.#lasting,
      nodes: this.#nodes,
      leave: (name, reason) => this.leave(name, reason),
      enterAgain: (name) => {
        if (!this.has(name)) void this.#request(this.#create(name));
      },
      scheduler: options.scheduler,
      log: options.log,
    });
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
    channel.use(use.agent, this.#options.scheduler.now());
    this.#nodes?.used(name, use.agent);
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
    return this.#nodes === null || await this.#nodes.release(name, agent.id, after);
  }

  /** The nicks of this bridge and those of other nodes. */
  get ownNicks(): readonly string[] {
    return [this.#options.link.nick, ...this.#nodes?.nicks ?? []];
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
    this.#restore(this.#nodes?.current ?? this.#lasting.takeRestored());
    const channels = [...this.#channels.values()];
    await Promise.allSettled(channels.map((channel) => this.#request(channel)));
    this.#sweep.start();
  }

  /** Ends every wait for the lost server. The channels stay, with their readers. */
  linkLost(): void {
    this.#sweep.stop();
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
    this.#events.handle(event);
  }

  #withNodes(nodes: NodeChannelsOptions["nodes"]): NodeChannels {
    const following: FollowingChannels = {
      find: (folded) => this.find(folded),
      enterAlong: ({ name }) => {
        const { link, max } = this.#options;
        if (!link.up || this.#channels.size >= max) return null;
        const channel = this.#create(name);
        void this.#request(channel);
        return channel;
      },
      leaveAlong: async (channel) => {
        const reason = "Another node was asked to leave";
        if (this.#options.link.up) await this.#depart(channel.name, reason);
        else this.#drop(channel, reason);
      },
      release: (folded) => this.#lasting.leftElsewhere(folded),
    };
    return new NodeChannels({ ...this.#options, nodes, following });
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
}
