import { formatMicroseconds, parseMicroseconds, unknownSince } from "../messages/mod.ts";
import type { ChannelFollower } from "./options.ts";
import type { Playback, PlaybackChannel } from "./playback.ts";

/** Messages that a follower is given at once of what came before the log begins. */
const PAGE = 100;

/** Where somebody begins to follow a channel. */
export interface FollowingStart {
  /** A timestamp or the id of a message; absent: with what comes from now on. */
  readonly since?: string | undefined;
  /**
   * The id of the last message that an event stream has shown, which goes before `since`. Where
   * nobody knows the message any more, it begins with all that is kept.
   */
  readonly lastEventId?: string | undefined;
}

export interface ChannelFollowingOptions {
  readonly channel: PlaybackChannel;
  readonly playback: Playback;
  readonly follower: ChannelFollower;
}

/**
 * One reader's way through a channel: from the past, where it began before the channel's log does,
 * into the log. Of the past it is given a page each time that it asks for more; the log gives it
 * what comes.
 */
export class ChannelFollowing {
  readonly #options: ChannelFollowingOptions;
  /** The timestamp after which it goes on; undefined for what comes from now on. */
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
   * Begins to follow. What the log holds of it, or else the first page of the past, is handed over
   * before this resolves.
   *
   * @throws Invalid where `since` is neither a time nor the id of a message that is kept, and what
   * {@link Playback} throws
   */
  static async open(
    options: ChannelFollowingOptions,
    start: FollowingStart,
  ): Promise<ChannelFollowing> {
    const cursor = await cursorOf(options, start);
    const following = new ChannelFollowing(options, cursor);
    if (!following.live) await following.#readOn();
    return following;
  }

  /** Whether it has come to the log: then messages come without being asked for. */
  get live(): boolean {
    return this.#unfollow !== null;
  }

  /** The follower has room for more. */
  more(): void {
    if (this.live || this.#closed) return;
    void this.#readOn();
  }

  /** Ends it; the follower is not told. */
  close(): void {
    this.#closed = true;
    this.#unfollow?.();
  }

  /** Hands over the next page of the past, or comes to the log. */
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
      // The follower comes back, and is then told why.
      if (!this.#closed) follower.end("The past of the channel could not be read");
      this.close();
    } finally {
      this.#reading = false;
    }
  }

  /** Whether the log holds everything that is still to come. */
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

/** The timestamp after which somebody is to go on; undefined for what comes from now on. */
async function cursorOf(
  { channel, playback }: ChannelFollowingOptions,
  { since, lastEventId }: FollowingStart,
): Promise<string | undefined> {
  const reference = lastEventId ?? since;
  if (reference === undefined) return undefined;
  const microseconds = await playback.microsecondsOf(channel, reference);
  if (microseconds !== null) return formatMicroseconds(microseconds);
  if (lastEventId === undefined) throw unknownSince();
  const { oldest } = channel.log;
  return oldest === null ? undefined : formatMicroseconds(oldest - 1);
}
