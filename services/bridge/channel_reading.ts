import { NotFound } from "../errors.ts";
import { type Caller, OPERATOR } from "../identity/mod.ts";
import { checkQuery, type MessageQuery, MessageReaders } from "../messages/mod.ts";
import type { Holder } from "../caller_quota.ts";
import type { Scheduler } from "../scheduler.ts";
import type { ChannelAccess } from "./access.ts";
import type { Channel } from "./channel.ts";
import type { ChannelEntry } from "./channel_entry.ts";
import type { Channels } from "./channels.ts";
import { ChannelFollowing, type FollowingStart } from "./following.ts";
import type {
  ChannelFollower,
  ChannelMessage,
  ChannelOverview,
  ChannelSearch,
  ChannelSummary,
  Following,
  FoundMessages,
} from "./options.ts";
import type { NodeSharing } from "./node_sharing.ts";
import type { Playback } from "./playback.ts";
import type { Readiness } from "./readiness.ts";
import type { Searching } from "./searching.ts";

/** Whose place a reader inside this process takes. */
const INTERNAL: Holder = { principal: OPERATOR, address: null };

export interface ChannelReadingOptions {
  readonly readiness: Readiness;
  readonly entry: ChannelEntry;
  readonly access: ChannelAccess;
  readonly channels: Channels;
  readonly playback: Playback;
  readonly searching: Searching;
  /** What several nodes share; null without nodes. */
  readonly sharing: NodeSharing | null;
  /** Messages kept in a channel's log, which is also the limit of one query. */
  readonly bufferSize: number;
  /** How long presence over HTTP currently lasts. */
  readonly webUserTtlMilliseconds: () => number;
  readonly scheduler: Scheduler;
}

/** Reading of channels: the list, past messages, new messages and members. */
export class ChannelReading {
  readonly #options: ChannelReadingOptions;
  readonly #readers: MessageReaders;
  #cut = 0;

  constructor(options: ChannelReadingOptions) {
    this.#options = options;
    this.#readers = new MessageReaders({ scheduler: options.scheduler });
  }

  /** Readers that wait for a message. */
  get waiting(): number {
    return this.#readers.waiting;
  }

  /** Followers disconnected because they fell behind. */
  get cut(): number {
    return this.#cut;
  }

  /** The channels that the bridge is in, as far as the caller may know, sorted by name. */
  list(caller: Caller | undefined): Channel[] {
    const { access, channels } = this.#options;
    return channels.list().filter(({ name }) => access.sees(name, caller));
  }

  /** As {@link list}, with the figures that a list shows. */
  summaries(caller: Caller | undefined): ChannelSummary[] {
    const after = this.#presentAfter();
    return this.list(caller).map((channel) => {
      const { name, topic } = channel;
      return { name, members: channel.users(after).length, topic };
    });
  }

  /** As {@link list}, with what a person's list shows. */
  overviews(
    caller: Caller | undefined,
    readUpTo: (channel: string) => number | null,
  ): ChannelOverview[] {
    const { access } = this.#options;
    const after = this.#presentAfter();
    return this.list(caller).filter(({ name }) => access.mayRead(name, caller)).map((channel) => {
      const { name, topic, log } = channel;
      const members = channel.users(after).length;
      const unread = unreadIn(channel, readUpTo(name));
      return { name, topic, members, last: log.last, unread };
    });
  }

  /** As `Bridge.unread`, in the channel with this name. */
  unread(name: string, readUpTo: number | null): readonly ChannelMessage[] {
    const log = this.#options.channels.get(name)?.log;
    if (log === undefined || readUpTo === null) return [];
    const after = afterRead(readUpTo);
    return log.countAfter(after) === 0 ? [] : log.readAfter(after);
  }

  /** As `Bridge.messages`, of the channel with this name. */
  async messages(
    name: string,
    query: MessageQuery,
    caller: Caller | undefined,
  ): Promise<ChannelMessage[]> {
    const { entry, access, bufferSize } = this.#options;
    checkQuery(query, bufferSize);
    const entered = await entry.visit(name, caller);
    await this.#options.sharing?.lines.reach(entered, query.since ?? query.before);
    const reader = caller ?? INTERNAL;
    const read = entered === null
      ? this.#firstMessages(name, query, reader)
      : this.#read(entered, query, reader);
    const messages = await read;
    access.assertReadable(name, caller);
    return messages;
  }

  /** As `Bridge.search`, of the channel with this name. */
  async search(
    name: string,
    wanted: ChannelSearch,
    caller: Caller | undefined,
  ): Promise<FoundMessages> {
    const { entry, access, searching } = this.#options;
    const entered = await entry.visit(name, caller);
    if (entered === null) return { messages: [], searchedTo: null };
    await this.#options.sharing?.lines.reach(entered);
    const found = await searching.search(entered, wanted);
    access.assertReadable(name, caller);
    return found;
  }

  /** As `Bridge.follow`, of the channel with this name. */
  async follow(
    name: string,
    start: FollowingStart,
    follower: ChannelFollower,
    caller: Caller | undefined,
  ): Promise<Following> {
    const { entry, access, playback, scheduler } = this.#options;
    const entered = await entry.visitOrMake(name, caller);
    await this.#options.sharing?.lines.reach(entered, start.lastEventId ?? start.since);
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

  /** As `Bridge.users`, of the channel with this name. */
  async users(name: string, caller: Caller | undefined): Promise<string[]> {
    const { readiness, access, channels, scheduler } = this.#options;
    await readiness.wait();
    access.assertReadable(name, caller);
    await this.#options.sharing?.readPresence();
    const found = channels.get(name);
    if (found === null) throw new NotFound(`The bridge is not in ${name}`);
    found.usedAt = scheduler.now();
    return found.users(this.#presentAfter());
  }

  async #read(
    entered: Channel,
    query: MessageQuery,
    reader: Holder,
  ): Promise<ChannelMessage[]> {
    const { playback, bufferSize } = this.#options;
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
    const { log, end } = this.#options.channels.awaitLog(name);
    try {
      return await this.#readers.read(log, { ...query, since: undefined, limit }, reader);
    } finally {
      end();
    }
  }

  /** Presence over HTTP that was noted after this time still counts. */
  #presentAfter(): number {
    const { scheduler, webUserTtlMilliseconds } = this.#options;
    return scheduler.now() - webUserTtlMilliseconds();
  }
}

/** How many kept messages came after a time, in Unix milliseconds; 0 if that is not known. */
function unreadIn({ log }: Channel, readUpTo: number | null): number {
  return readUpTo === null ? 0 : log.countAfter(afterRead(readUpTo));
}

/** The last microsecond of what was read: a read marker names the millisecond of a message. */
function afterRead(readUpTo: number): number {
  return (readUpTo + 1) * 1000 - 1;
}
