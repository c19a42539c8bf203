import { formatMicroseconds, type Gap, parseMicroseconds, unknownSince } from "../messages/mod.ts";
import type { ChannelFollower } from "./types.ts";
import type { Playback, PlaybackChannel } from "./playback.ts";

/** Messages per page from before the start of the log. */
const PAGE = 100;

/** The start of a follower. */
export interface FollowingStart {
  /** A timestamp or the id of a message; absent: new messages only. */
  readonly since?: string | undefined;
  /**
   * The id of the last message that an event stream has shown; it takes precedence over `since`. If
   * the message is no longer known, the follower learns of a gap and gets everything kept.
   */
  readonly lastEventId?: string | undefined;
}

export interface ChannelFollowingOptions {
  readonly channel: PlaybackChannel;
  readonly playback: Playback;
  readonly follower: ChannelFollower;
}

/**
 * One reader's way through a channel: from messages before the channel's log into the log. The
 * follower asks for each page of the past; the log passes it new messages.
 */
export class ChannelFollowing {
  readonly #options: ChannelFollowingOptions;
  /** The timestamp after which it continues; undefined for new messages only. */
  #cursor: string | undefined;
  #unfollow: (() => void) | null = null;
  #wanted = false;
  #reading = false;
  #closed = false;

  private constructor(options: ChannelFollowingOptions, cursor: string | undefined) {
    this.#options = options;
    this.#cursor = cursor;
    if (this.#isCovered()) this.#goLive();
  }

  /**
   * Starts following. Passes the wanted messages of the log, or else the first page of the past,
   * before this resolves.
   *
   * @throws Invalid if `since` is neither a time nor the id of a kept message, and what {@link
   * Playback} throws
   */
  static async open(
    options: ChannelFollowingOptions,
    start: FollowingStart,
  ): Promise<ChannelFollowing> {
    const { cursor, gap } = await placeOf(options, start);
    if (gap !== null) options.follower.gap?.(gap);
    const following = new ChannelFollowing(options, cursor);
    if (!following.live) await following.#readOn();
    return following;
  }

  /** Whether it has reached the log, which passes messages without a request. */
  get live(): boolean {
    return this.#unfollow !== null;
  }

  /** Call this when the follower has room for more. */
  more(): void {
    if (this.live || this.#closed) return;
    void this.#readOn();
  }

  /** Ends it without notifying the follower. */
  close(): void {
    this.#closed = true;
    this.#unfollow?.();
  }

  /** Passes the next page of the past, or continues with the log. */
  async #readOn(): Promise<void> {
    this.#wanted = true;
    if (this.#reading) return;
    const { channel, playback, follower } = this.#options;
    this.#reading = true;
    try {
      while (this.#wanted && !this.#closed && !this.live) {
        const { oldest } = channel.log;
        const page = await playback.readAfter(channel, this.#cursor ?? "", PAGE);
        if (this.#closed) return;
        for (const message of page) follower.message(message);
        this.#wanted = page.length === 0;
        this.#cursor = page.at(-1)?.timestamp ?? this.#cursor;
        const isAtEnd = page.length === 0 && channel.log.oldest === oldest;
        if (isAtEnd || this.#isCovered()) this.#goLive();
      }
    } catch {
      // The follower will reconnect, and then receives the error.
      if (!this.#closed) follower.end("The past of the channel could not be read");
      this.close();
    } finally {
      this.#reading = false;
    }
  }

  /** Whether the log has all remaining messages. */
  #isCovered(): boolean {
    const { channel: { log }, playback } = this.#options;
    if (this.#cursor === undefined || !playback.available) return true;
    return (parseMicroseconds(this.#cursor) ?? 0) >= (log.oldest ?? Infinity);
  }

  #goLive(): void {
    const { channel, follower } = this.#options;
    this.#unfollow = channel.log.follow(this.#cursor, follower);
  }
}

/** Where a follower continues. */
interface StartPoint {
  /** The timestamp after which it continues; undefined for new messages only. */
  readonly cursor: string | undefined;
  /** What it may miss before the first message that it gets; null if nothing. */
  readonly gap: Gap | null;
}

async function placeOf(
  { channel, playback }: ChannelFollowingOptions,
  { since, lastEventId }: FollowingStart,
): Promise<StartPoint> {
  const { log } = channel;
  const reference = lastEventId ?? since;
  if (reference === undefined) return { cursor: undefined, gap: null };
  const microseconds = await playback.microsecondsOf(channel, reference);
  if (microseconds !== null) {
    const gap = await playback.gapAfter(channel, microseconds, reference);
    return { cursor: formatMicroseconds(microseconds), gap };
  }
  if (lastEventId === undefined) throw unknownSince();
  const { oldest } = log;
  const cursor = oldest === null ? undefined : formatMicroseconds(oldest - 1);
  return { cursor, gap: log.gapSince(reference) };
}
