import { Invalid } from "../errors.ts";
import { formatMicroseconds, parseMicroseconds } from "./timestamp.ts";

/** One message of a channel. */
export interface ChannelMessage {
  /** The IRC server's id of the message, where it gives one. */
  readonly id: string;
  readonly nick: string;
  readonly text: string;
  /** ISO 8601, UTC, microseconds; strictly increasing within a channel. */
  readonly timestamp: string;
}

/** A message on its way into the log. */
export interface NewMessage {
  readonly id: string;
  readonly nick: string;
  readonly text: string;
  /** When the IRC server took it, in Unix milliseconds. */
  readonly time: number;
}

/** Somebody who reads a log as it grows. Called while a message is taken in: must not block. */
export interface Follower {
  message(message: ChannelMessage): void;
  /** Nothing more will come. Not called for a follower that closed itself. */
  end(reason: string): void;
}

interface Entry {
  readonly microseconds: number;
  readonly message: ChannelMessage;
}

interface Subscription {
  readonly follower: Follower;
  open: boolean;
}

/**
 * The messages of one channel in the server's order: the newest ones are kept, and whoever follows
 * gets each new one. History, streams and waiting readers all read this.
 */
export class MessageLog {
  readonly #capacity: number;
  readonly #onFailure: (error: unknown) => void;
  /** A ring: once it is full, the oldest entry stands at `#oldest` and is overwritten next. */
  readonly #entries: Entry[] = [];
  #oldest = 0;
  #lastMicroseconds = 0;
  /** Replaced, never changed, so that a round of deliveries sees the list it began with. */
  #subscriptions: readonly Subscription[] = [];

  /**
   * @param capacity how many messages are kept, at least 1
   * @param onFailure told what a follower threw; that follower gets nothing more
   */
  constructor(capacity: number, onFailure: (error: unknown) => void) {
    this.#capacity = capacity;
    this.#onFailure = onFailure;
  }

  /** How many messages are kept at present. */
  get size(): number {
    return this.#entries.length;
  }

  get followers(): number {
    return this.#subscriptions.length;
  }

  /** Takes a message in and hands it to every follower. */
  append({ id, nick, text, time }: NewMessage): ChannelMessage {
    const microseconds = Math.max(time * 1000, this.#lastMicroseconds + 1);
    this.#lastMicroseconds = microseconds;
    const message = { id, nick, text, timestamp: formatMicroseconds(microseconds) };
    this.#keep({ microseconds, message });
    for (const subscription of this.#subscriptions) this.#deliver(subscription, message);
    return message;
  }

  /**
   * Reads messages, oldest first: without `since` the newest `limit`, with it the first `limit`
   * that came after it, so that a reader who goes on from the last one it got misses none.
   *
   * @param since a timestamp or the id of a message
   * @throws Invalid where `since` is neither a time nor the id of a message that is still kept
   */
  read(since: string | undefined, limit: number): ChannelMessage[] {
    const from = since === undefined ? Math.max(0, this.size - limit) : this.#positionAfter(since);
    const to = Math.min(this.size, from + limit);
    const messages: ChannelMessage[] = [];
    for (let position = from; position < to; position++) {
      messages.push(this.#entryAt(position).message);
    }
    return messages;
  }

  /**
   * Hands over what came after `since`, if given, and then every new message: in order, without a
   * gap, none twice.
   *
   * @returns a function that ends it
   * @throws Invalid as {@link read} does
   */
  follow(since: string | undefined, follower: Follower): () => void {
    const subscription = { follower, open: true };
    const missed = since === undefined ? [] : this.read(since, this.size);
    this.#subscriptions = [...this.#subscriptions, subscription];
    for (const message of missed) this.#deliver(subscription, message);
    return () => this.#remove(subscription);
  }

  /** Ends every follower. */
  end(reason: string): void {
    const subscriptions = this.#subscriptions;
    this.#subscriptions = [];
    for (const subscription of subscriptions) {
      if (!subscription.open) continue;
      subscription.open = false;
      try {
        subscription.follower.end(reason);
      } catch (error) {
        this.#onFailure(error);
      }
    }
  }

  #keep(entry: Entry): void {
    if (this.#entries.length < this.#capacity) {
      this.#entries.push(entry);
      return;
    }
    this.#entries[this.#oldest] = entry;
    this.#oldest = (this.#oldest + 1) % this.#capacity;
  }

  /** The entry at a position counted from the oldest, which is 0. */
  #entryAt(position: number): Entry {
    return this.#entries[(this.#oldest + position) % this.#entries.length] as Entry;
  }

  #positionAfter(since: string): number {
    const microseconds = parseMicroseconds(since);
    if (microseconds !== null) return this.#positionAfterTime(microseconds);
    for (let position = this.size - 1; position >= 0; position--) {
      if (this.#entryAt(position).message.id === since) return position + 1;
    }
    throw new Invalid('"since" must be an ISO 8601 time or the id of a message that is still kept');
  }

  #positionAfterTime(microseconds: number): number {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#entryAt(middle).microseconds > microseconds) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** One follower's fault must not keep a message from the others. */
  #deliver(subscription: Subscription, message: ChannelMessage): void {
    if (!subscription.open) return;
    try {
      subscription.follower.message(message);
    } catch (error) {
      this.#onFailure(error);
      this.#remove(subscription);
    }
  }

  #remove(subscription: Subscription): void {
    if (!subscription.open) return;
    subscription.open = false;
    this.#subscriptions = this.#subscriptions.filter((other) => other !== subscription);
  }
}
