import { Invalid } from "../errors.ts";
import { formatMicroseconds, parseMicroseconds, Stamps } from "./timestamp.ts";

/** What every message has, whatever else it holds. */
export interface LoggedMessage {
  /** The IRC server's id of the message, where it gives one. */
  readonly id: string;
  readonly text: string;
}

/** A message as it is kept. */
export type Logged<Message> = Message & {
  /** ISO 8601, UTC, microseconds; strictly increasing within a log. */
  readonly timestamp: string;
};

/** A reader that follows a log. The log calls it for each new message, so it must not block. */
export interface Follower<Message> {
  message(message: Logged<Message>): void;
  /** Nothing more will come. Not called for a follower that closed itself. */
  end(reason: string): void;
}

interface Entry<Message> {
  readonly microseconds: number;
  readonly message: Logged<Message>;
}

interface Subscription<Message> {
  readonly follower: Follower<Message>;
  open: boolean;
}

export interface MessageLogOptions {
  /** How many messages are kept, at least 1. */
  readonly capacity: number;
  /** How many UTF-16 units their texts may have together; the newest message is kept anyway. */
  readonly maxUnits?: number;
  /** Told what a follower threw; that follower gets nothing more. */
  readonly onFailure: (error: unknown) => void;
}

/** A message of an earlier log, or the id of one that was removed from it. */
export type PastMessage<Message> =
  | { readonly microseconds: number; readonly message: Message }
  | { readonly microseconds: number; readonly removed: string };

/**
 * Messages in their order of arrival. The log keeps the newest ones, and followers get each new one.
 * History, streams and waiting readers all read this.
 */
export class MessageLog<Message extends LoggedMessage> {
  readonly #options: MessageLogOptions;
  readonly #entries: Entry<Message>[] = [];
  /** When messages were taken in that were removed again, by id: a reader may go on from them. */
  readonly #removed = new Map<string, number>();
  #units = 0;
  readonly #stamps: Stamps;
  /** Why nothing more will come; null as long as something may. */
  #endReason: string | null = null;
  /** Replaced, never changed, so that a round of deliveries sees the list it began with. */
  #subscriptions: readonly Subscription<Message>[] = [];

  /** @param past what an earlier log held, oldest first: this one goes on from it */
  constructor(options: MessageLogOptions, past: Iterable<PastMessage<Message>> = []) {
    this.#options = options;
    let last = 0;
    for (const one of past) {
      const { microseconds } = one;
      last = microseconds;
      if ("removed" in one) {
        this.#removed.set(one.removed, microseconds);
      } else {
        const message = { ...one.message, timestamp: formatMicroseconds(microseconds) };
        this.#keep({ microseconds, message });
      }
    }
    this.#stamps = new Stamps(last);
    this.#forgetRemoved();
  }

  /** How many messages are kept at present. */
  get size(): number {
    return this.#entries.length;
  }

  get followers(): number {
    return this.#subscriptions.length;
  }

  /**
   * Takes a message in and hands it to every follower.
   *
   * @param time when the IRC server took it, in Unix milliseconds
   */
  append(message: Message, time: number): Logged<Message> {
    const microseconds = this.#stamps.next(time);
    const logged = { ...message, timestamp: formatMicroseconds(microseconds) };
    this.#keep({ microseconds, message: logged });
    for (const subscription of this.#subscriptions) this.#deliver(subscription, logged);
    return logged;
  }

  /**
   * Reads messages, oldest first: without `since` the newest `limit`, with it the first `limit`
   * that came after it, so that a reader who goes on from the last one it got misses none.
   *
   * @param since a timestamp or the id of a message
   * @throws Invalid where `since` is neither a time nor the id of a message that is still kept
   */
  read(since: string | undefined, limit: number): Logged<Message>[] {
    const from = since === undefined ? Math.max(0, this.size - limit) : this.#positionAfter(since);
    return this.#entries.slice(from, from + limit).map(({ message }) => message);
  }

  /** The newest `limit` messages that came before a time, in microseconds; oldest first. */
  readBefore(microseconds: number, limit: number): Logged<Message>[] {
    const to = this.#positionAfterTime(microseconds - 1);
    return this.#entries.slice(Math.max(0, to - limit), to).map(({ message }) => message);
  }

  /** When the oldest message came that is kept, in microseconds since 1970; null without one. */
  get oldest(): number | null {
    return this.#entries[0]?.microseconds ?? null;
  }

  /** When the newest message came that is kept, in microseconds since 1970; null without one. */
  get newest(): number | null {
    return this.#entries.at(-1)?.microseconds ?? null;
  }

  /**
   * What a timestamp or the id of a message stands for, in microseconds since 1970; null where it is
   * neither a time nor the id of a message that is kept or was removed.
   */
  microsecondsOf(reference: string): number | null {
    return parseMicroseconds(reference) ?? this.#removed.get(reference) ??
      this.#entries.findLast(({ message }) => message.id === reference)?.microseconds ?? null;
  }

  /**
   * Hands over what came after `since`, if given, and then every new message: in order, without a
   * gap, none twice.
   *
   * @returns a function that ends it
   * @throws Invalid as {@link read} does
   */
  follow(since: string | undefined, follower: Follower<Message>): () => void {
    const subscription = { follower, open: true };
    const missed = since === undefined ? [] : this.read(since, this.size);
    this.#subscriptions = [...this.#subscriptions, subscription];
    for (const message of missed) this.#deliver(subscription, message);
    if (this.#endReason !== null) this.end(this.#endReason);
    return () => this.#remove(subscription);
  }

  /**
   * Removes messages that shall be read no more. Who follows has them already; who goes on from the
   * id of one still can, unless many were removed after it.
   *
   * @returns the times, in microseconds, of those from which nobody can go on any more
   */
  remove(isMeant: (message: Message) => boolean): number[] {
    for (let index = this.size - 1; index >= 0; index--) {
      const { message, microseconds } = this.#entries[index] as Entry<Message>;
      if (!isMeant(message)) continue;
      this.#entries.splice(index, 1);
      this.#units -= message.text.length;
      this.#removed.set(message.id, microseconds);
    }
    return this.#forgetRemoved();
  }

  /** Lets go of messages from before a time, in microseconds. */
  removeBefore(microseconds: number): void {
    const count = this.#positionAfterTime(microseconds - 1);
    for (const { message } of this.#entries.splice(0, count)) this.#units -= message.text.length;
  }

  /** Ends every follower, present and later. */
  end(reason: string): void {
    this.#endReason = reason;
    const subscriptions = this.#subscriptions;
    this.#subscriptions = [];
    for (const subscription of subscriptions) {
      if (!subscription.open) continue;
      subscription.open = false;
      try {
        subscription.follower.end(reason);
      } catch (error) {
        this.#options.onFailure(error);
      }
    }
  }

  #keep(entry: Entry<Message>): void {
    const { capacity, maxUnits = Infinity } = this.#options;
    this.#entries.push(entry);
    this.#units += entry.message.text.length;
    while (this.size > capacity || (this.#units > maxUnits && this.size > 1)) {
      this.#units -= this.#entries.shift()?.message.text.length ?? 0;
    }
  }

  /** Keeps no more removed messages than messages, and gives the times of the others. */
  #forgetRemoved(): number[] {
    const surplus = [...this.#removed].slice(0, -this.#options.capacity);
    for (const [id] of surplus) this.#removed.delete(id);
    return surplus.map(([, microseconds]) => microseconds);
  }

  #positionAfter(since: string): number {
    const microseconds = this.microsecondsOf(since);
    if (microseconds !== null) return this.#positionAfterTime(microseconds);
    throw unknownSince();
  }

  #positionAfterTime(microseconds: number): number {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.#entries[middle] as Entry<Message>;
      if (entry.microseconds > microseconds) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** One follower's fault must not keep a message from the others. */
  #deliver(subscription: Subscription<Message>, message: Logged<Message>): void {
    if (!subscription.open) return;
    try {
      subscription.follower.message(message);
    } catch (error) {
      this.#options.onFailure(error);
      this.#remove(subscription);
    }
  }

  #remove(subscription: Subscription<Message>): void {
    if (!subscription.open) return;
    subscription.open = false;
    this.#subscriptions = this.#subscriptions.filter((other) => other !== subscription);
  }
}

/** The error for a cursor that names no known message. */
export function unknownSince(): Invalid {
  return new Invalid('"since" must be an ISO 8601 time or the id of a message that is still kept');
}
