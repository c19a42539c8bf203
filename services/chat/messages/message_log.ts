import { Invalid } from "../../kernel/errors.ts";
import { firstIndex } from "../../kernel/first_index.ts";

/** The common properties of messages. */
export interface LoggedMessage {
  /** The IRC server's id of the message, if it gives one. */
  readonly id: string;
  readonly text: string;
}

/** A stored message. */
export type Logged<Message> = Message & {
  /** ISO 8601, UTC, microseconds; strictly increasing within a log. */
  readonly timestamp: string;
};

/** What a reader that continues may have missed. */
export interface Gap {
  /** The timestamp or id after which it continues. */
  readonly from: string;
  /** The timestamp of the oldest message that is there; null if there is none. */
  readonly to: string | null;
}

/** A reader that follows a log. The log calls it for each new message, so it must not block. */
export interface Follower<Message> {
  message(message: Logged<Message>): void;
  /** Called at the end, except for a follower that closed itself. */
  end(reason: string): void;
  /**
   * Called when the follower has the earlier messages. The log passes the later ones to the returned
   * group, once for all its followers.
   */
  join?(log: object): FollowerGroup<Message>;
}

/** Gets the new messages of a log for several followers. */
export interface FollowerGroup<Message> {
  message(message: Logged<Message>): void;
}

interface Placed<Message> {
  readonly microseconds: number;
  readonly message: Logged<Message>;
}

interface Subscription<Message> {
  readonly follower: Follower<Message>;
  /** Gets its new messages; null for none. */
  group: FollowerGroup<Message> | null;
  open: boolean;
}

interface MessageLogOptions {
  /** The number of messages kept, at least 1. */
  readonly capacity: number;
  /** Most UTF-16 units of their texts together; the newest message is always kept. */
  readonly maxUnits?: number;
  /** Called with what a follower threw; that follower gets no more messages. */
  readonly onFailure: (error: unknown) => void;
}

/** A message of an earlier log, or the id of one that was removed from it. */
export type PastMessage<Message> =
  | { readonly microseconds: number; readonly message: Message }
  | { readonly microseconds: number; readonly removed: string };

/**
 * Messages in their order of arrival. The log keeps the newest ones, and followers get each new
 * one. History, streams and waiting readers all read this.
 */
export class MessageLog<Message extends LoggedMessage> {
  readonly #options: MessageLogOptions;
  readonly #entries = new Window<Placed<Message>>();
  /** The times of removed messages, by id, so that a reader can continue from them. */
  readonly #removed = new Map<string, number>();
  /** The time of the newest message that is missing before the kept ones, in microseconds. */
  #missingUpTo = 0;
  #units = 0;
  readonly #stamps: Stamps;
  readonly #timestamps = new MicrosecondTexts();
  /** Why the log has ended; null while it has not. */
  #endReason: string | null = null;
  /** Replaced, never mutated, so that a round of deliveries sees one list. */
  #subscriptions: readonly Subscription<Message>[] = [];
  /** Those of them without a group. */
  #single: readonly Subscription<Message>[] = [];
  /** The groups of the others, with the number of their followers. */
  readonly #groups = new Map<FollowerGroup<Message>, number>();

  /** @param past the messages of an earlier log, oldest first, which this one continues */
  constructor(options: MessageLogOptions, past: Iterable<PastMessage<Message>> = []) {
    this.#options = options;
    let last = 0;
    for (const one of past) {
      const { microseconds } = one;
      last = microseconds;
      if ("removed" in one) {
        this.#removed.set(one.removed, microseconds);
      } else {
        const message = { ...one.message, timestamp: this.#timestamps.of(microseconds) };
        this.#keep({ microseconds, message });
      }
    }
    this.#stamps = new Stamps(last);
    this.#forgetRemoved();
  }

  /** The number of messages kept now. */
  get size(): number {
    return this.#entries.length;
  }

  get followers(): number {
    return this.#subscriptions.length;
  }

  /**
   * Adds a message and passes it to every follower.
   *
   * @param time when the IRC server accepted it, in Unix milliseconds
   */
  append(message: Message, time: number): Logged<Message> {
    return this.#add(message, this.#stamps.next(time));
  }

  /**
   * The same for a message that has its timestamp already.
   *
   * @param microseconds after that of the newest message
   */
  appendAt(message: Message, microseconds: number): Logged<Message> {
    return this.#add(message, microseconds);
  }

  /**
   * Reads messages, oldest first: by default the newest `limit`, with `since` the first `limit`
   * after it, so that a reader who continues from its last message misses none.
   *
   * @param since a timestamp or the id of a message
   * @throws Invalid if `since` is neither a time nor the id of a message that is still kept
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

  /** The newest kept message; null without one. */
  get last(): Logged<Message> | null {
    return this.#entries.last?.message ?? null;
  }

  /** The kept messages after a time, in microseconds since 1970. */
  readAfter(microseconds: number): Logged<Message>[] {
    const from = this.#positionAfterTime(microseconds);
    return this.#entries.slice(from).map(({ message }) => message);
  }

  /**
   * The kept messages up to one, and that one.
   *
   * @param reference a timestamp or the id of a message
   * @throws Invalid like {@link read}
   */
  readUpTo(reference: string): Logged<Message>[] {
    return this.#entries.slice(0, this.#positionAfter(reference)).map(({ message }) => message);
  }

  /** The number of kept messages after a time, in microseconds since 1970. */
  countAfter(microseconds: number): number {
    return this.size - this.#positionAfterTime(microseconds);
  }

  /** The time of the oldest kept message, in microseconds since 1970; null without one. */
  get oldest(): number | null {
    return this.#entries.at(0)?.microseconds ?? null;
  }

  /**
   * What somebody may miss who continues after a time, in microseconds since 1970; null if the log
   * has everything since.
   *
   * @param reference how the reader named the time
   */
  gapAfter(microseconds: number, reference: string): Gap | null {
    return microseconds < this.#missingUpTo ? this.gapSince(reference) : null;
  }

  /** What somebody may miss who continues after a message that nobody knows. */
  gapSince(reference: string): Gap {
    return { from: reference, to: this.#entries.at(0)?.message.timestamp ?? null };
  }

  /** Notes that messages before the oldest kept one may be missing. */
  noteMissing(): void {
    this.#missingUpTo = Math.max(this.#missingUpTo, (this.oldest ?? 0) - 1);
  }

  /**
   * Ends those who follow now, because they missed messages: they come back with the last that they
   * got, and then learn of it.
   */
  interrupt(reason: string): void {
    this.#endFollowers(reason);
  }

  /** The time of the newest kept message, in microseconds since 1970; null without one. */
  get newest(): number | null {
    return this.#entries.last?.microseconds ?? null;
  }

  /**
   * The time of a timestamp or message id, in microseconds since 1970; null if it is neither a time
   * nor the id of a kept or removed message.
   */
  microsecondsOf(reference: string): number | null {
    return parseMicroseconds(reference) ?? this.#removed.get(reference) ??
      this.#entries.slice(0).findLast(({ message }) => message.id === reference)?.microseconds ??
      null;
  }

  /**
   * Passes on the messages after `since`, if given, and then every new message, in order, without
   * gaps or duplicates.
   *
   * @returns a function that ends it
   * @throws Invalid like {@link read}
   */
  follow(since: string | undefined, follower: Follower<Message>): () => void {
    const subscription: Subscription<Message> = { follower, group: null, open: true };
    const missed = since === undefined ? [] : this.read(since, this.size);
    this.#subscriptions = [...this.#subscriptions, subscription];
    for (const message of missed) this.#deliver(subscription, message);
    if (subscription.open) this.#enlist(subscription);
    if (this.#endReason !== null) this.end(this.#endReason);
    return () => this.#remove(subscription);
  }

  /**
   * Removes messages. Followers already have them; a reader can still continue from the id of one,
   * unless many were removed after it.
   *
   * @returns the times, in microseconds, of those that no reader can continue from any more
   */
  remove(isMeant: (message: Message) => boolean): number[] {
    for (let index = this.size - 1; index >= 0; index--) {
      const { message, microseconds } = this.#entries.at(index) as Placed<Message>;
      if (!isMeant(message)) continue;
      this.#entries.remove(index, 1);
      this.#units -= message.text.length;
      this.#removed.set(message.id, microseconds);
    }
    return this.#forgetRemoved();
  }

  /** Drops the oldest message that is meant, and returns it; null if none is. */
  dropOldest(isMeant: (message: Message) => boolean): Logged<Message> | null {
    const index = this.#entries.slice(0).findIndex(({ message }) => isMeant(message));
    const [entry] = index === -1 ? [] : this.#entries.remove(index, 1);
    if (entry === undefined) return null;
    this.#units -= entry.message.text.length;
    return entry.message;
  }

  /** Whether texts of so many UTF-16 units together fit beside the kept messages. */
  hasRoom(units: number, messages = 1): boolean {
    const { capacity, maxUnits = Infinity } = this.#options;
    const size = this.size + messages;
    return size === 1 || (size <= capacity && this.#units + units <= maxUnits);
  }

  /** Drops messages from before a time, in microseconds. */
  removeBefore(microseconds: number): void {
    const count = this.#positionAfterTime(microseconds - 1);
    for (const { message } of this.#entries.remove(0, count)) this.#units -= message.text.length;
  }

  /** Ends every follower, present and later. */
  end(reason: string): void {
    this.#endReason = reason;
    this.#endFollowers(reason);
  }

  #endFollowers(reason: string): void {
    const subscriptions = this.#subscriptions;
    this.#subscriptions = [];
    this.#single = [];
    this.#groups.clear();
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

  #add(message: Message, microseconds: number): Logged<Message> {
    const logged = { ...message, timestamp: this.#timestamps.of(microseconds) };
    this.#keep({ microseconds, message: logged });
    for (const group of this.#groups.keys()) this.#deliverToGroup(group, logged);
    for (const subscription of this.#single) this.#deliver(subscription, logged);
    return logged;
  }

  #keep(entry: Placed<Message>): void {
    const { capacity, maxUnits = Infinity } = this.#options;
    this.#entries.push(entry);
    this.#units += entry.message.text.length;
    while (this.size > capacity || (this.#units > maxUnits && this.size > 1)) {
      const dropped = this.#entries.shift();
      this.#units -= dropped?.message.text.length ?? 0;
      this.#missingUpTo = Math.max(this.#missingUpTo, dropped?.microseconds ?? 0);
    }
  }

  /** Limits the removed ids to the number of messages, and returns the times of the others. */
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
    const at = (index: number) => this.#entries.at(index) as Placed<Message>;
    return firstIndex(this.size, (index) => at(index).microseconds > microseconds);
  }

  /** A failing follower must not keep a message from the others. */
  #deliver(subscription: Subscription<Message>, message: Logged<Message>): void {
    if (!subscription.open) return;
    try {
      subscription.follower.message(message);
    } catch (error) {
      this.#options.onFailure(error);
      this.#remove(subscription);
    }
  }

  /** A failing group loses its followers. */
  #deliverToGroup(group: FollowerGroup<Message>, message: Logged<Message>): void {
    try {
      group.message(message);
    } catch (error) {
      this.#options.onFailure(error);
      for (const subscription of this.#subscriptions) {
        if (subscription.group === group) this.#remove(subscription);
      }
    }
  }

  /** Makes the log pass new messages to a follower or its group. */
  #enlist(subscription: Subscription<Message>): void {
    const group = subscription.follower.join?.(this) ?? null;
    subscription.group = group;
    if (group === null) this.#single = [...this.#single, subscription];
    else this.#groups.set(group, (this.#groups.get(group) ?? 0) + 1);
  }

  #remove(subscription: Subscription<Message>): void {
    if (!subscription.open) return;
    subscription.open = false;
    const isOther = (other: Subscription<Message>) => other !== subscription;
    this.#subscriptions = this.#subscriptions.filter(isOther);
    const { group } = subscription;
    const left = group === null ? 0 : (this.#groups.get(group) ?? 0) - 1;
    if (group === null) this.#single = this.#single.filter(isOther);
    else if (left > 0) this.#groups.set(group, left);
    else this.#groups.delete(group);
  }
}

/** The error for a cursor that names no known message. */
export function unknownSince(): Invalid {
  return new Invalid('"since" must be an ISO 8601 time or the id of a message that is still kept');
}

/** The least number of empty places that are given back. */
const LEAST_ROOM = 16;

/**
 * A list that grows at its end and is dropped from its start. An array that is shifted for each new
 * item moves through memory, and is copied each time that it reaches the end of its room.
 */
export class Window<Item extends object> {
  readonly #items: (Item | undefined)[] = [];
  /** Where the first item is; the places before it are empty. */
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  /** The item at an index from 0; undefined beyond the last. */
  at(index: number): Item | undefined {
    return this.#items[this.#first + index];
  }

  get last(): Item | undefined {
    return this.#items[this.#items.length - 1];
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  /** Drops the first item. */
  shift(): Item | undefined {
    const item = this.#items[this.#first];
    if (item === undefined) return undefined;
    this.#items[this.#first++] = undefined;
    if (this.#first >= Math.max(LEAST_ROOM, this.length)) {
      this.#items.splice(0, this.#first);
      this.#first = 0;
    }
    return item;
  }

  /** The items from an index up to another one, as of `Array.slice` for indexes from 0. */
  slice(from: number, to: number = this.length): Item[] {
    return this.#items.slice(this.#first + from, this.#first + to) as Item[];
  }

  /** Removes so many items at an index, and returns them. */
  remove(index: number, count: number): Item[] {
    return this.#items.splice(this.#first + index, count) as Item[];
  }
}

/**
 * Times of messages: whole microseconds since 1970, which a number holds exactly until the year
 * 2255, written as ISO 8601 in UTC with six digits after the second.
 */

/** Of a second. */
const MICROSECONDS = 1_000_000;

const ISO_8601 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/** Assigns each message of a log a strictly increasing time. */
export class Stamps {
  #last: number;

  /** @param last the time of the message before the first, in microseconds since 1970 */
  constructor(last = 0) {
    this.#last = last;
  }

  /** Microseconds since 1970 for the next message, accepted at the given time in milliseconds. */
  next(milliseconds: number): number {
    this.#last = Math.max(milliseconds * 1000, this.#last + 1);
    return this.#last;
  }
}

/**
 * Formats times as {@link formatMicroseconds} does. Times of the same second share their beginning,
 * which takes the most work.
 */
class MicrosecondTexts {
  #second = NaN;
  /** To the point after the second. */
  #start = "";

  /** @param microseconds since 1970 */
  of(microseconds: number): string {
    const second = Math.floor(microseconds / MICROSECONDS);
    if (second !== this.#second) {
      this.#second = second;
      this.#start = formatMicroseconds(second * MICROSECONDS).slice(0, -"000000Z".length);
    }
    return `${this.#start}${String(microseconds - second * MICROSECONDS).padStart(6, "0")}Z`;
  }
}

/** Formats microseconds since 1970 as `2026-11-20T23:18:00.123456Z`. */
export function formatMicroseconds(microseconds: number): string {
  const milliseconds = Math.floor(microseconds / 1000);
  const rest = String(microseconds % 1000).padStart(3, "0");
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${rest}Z`;
}

/**
 * Parses an ISO 8601 time with a zone; truncates it to microseconds.
 *
 * @returns microseconds since 1970, or null if the text is not such a time
 */
export function parseMicroseconds(text: string): number | null {
  const [, seconds, fraction = "", zone] = ISO_8601.exec(text) ?? [];
  if (seconds === undefined || zone === undefined) return null;
  const milliseconds = Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(milliseconds)) return null;
  return milliseconds * 1000 + Number(fraction.slice(0, 6).padEnd(6, "0"));
}
