/** Logs in memory: their entries, and which log was written to last. */

import type { Outbound } from "../outbound.ts";
import type { HistoryKind } from "./store.ts";
import { firstIndex } from "../../../kernel/first_index.ts";

const FIRST_CAPACITY = 4;

/** One message in the form that was sent, with its id and time. */
export interface HistoryEntry {
  readonly id: string;
  /** Unix time in milliseconds. */
  readonly time: number;
  readonly kind: HistoryKind;
  readonly message: Outbound;
  /** The form for clients with `extended-join`. */
  readonly extended: Outbound | null;
}

/**
 * The entries of one channel or conversation, the oldest first.
 *
 * They lie in a ring. An array from which the first entry is shifted moves through memory: it is
 * copied whole each time it reaches its end.
 */
export class Log {
  /** Name of the channel, or the nick as it was written in the last message. */
  title: string;
  /** Removes the log from its owner once it is empty. */
  readonly discard: () => void;
  /** Its neighbours in {@linkcode RecentLogs}. */
  older: Log | null = null;
  newer: Log | null = null;
  #ring: (HistoryEntry | undefined)[] = [];
  #first = 0;
  #length = 0;

  constructor(title: string, discard: () => void) {
    this.title = title;
    this.discard = discard;
  }

  get length(): number {
    return this.#length;
  }

  /** All entries, in an array of their own. */
  get entries(): HistoryEntry[] {
    const end = this.#first + this.#length;
    const untilEnd = this.#ring.slice(this.#first, end);
    const entries = untilEnd.concat(this.#ring.slice(0, this.#length - untilEnd.length));
    return entries as HistoryEntry[];
  }

  at(index: number): HistoryEntry | undefined {
    return index < this.#length ? this.#ring[this.#place(index)] : undefined;
  }

  push(entry: HistoryEntry): void {
    if (this.#length === this.#ring.length) this.#grow();
    this.#ring[this.#place(this.#length)] = entry;
    this.#length++;
  }

  /** Removes the oldest entry. */
  shift(): HistoryEntry | undefined {
    const entry = this.at(0);
    if (entry === undefined) return undefined;
    this.#ring[this.#first] = undefined;
    this.#first = this.#place(1);
    this.#length--;
    return entry;
  }

  /** Puts another entry into the place of the one at an index. */
  replace(index: number, entry: HistoryEntry): void {
    this.#ring[this.#place(index)] = entry;
  }

  /** The index of the first entry that is not older than a time. */
  firstSince(time: number): number {
    return firstIndex(this.#length, (index) => (this.at(index)?.time ?? time) >= time);
  }

  /** The capacity is a power of two. */
  #place(index: number): number {
    return (this.#first + index) & (this.#ring.length - 1);
  }

  #grow(): void {
    this.#ring = this.entries;
    this.#ring.length = Math.max(FIRST_CAPACITY, 2 * this.#length);
    this.#first = 0;
  }
}

/** All logs that have entries, in the order in which they were last written to. */
export class RecentLogs {
  #oldest: Log | null = null;
  #newest: Log | null = null;

  /** The log that was not written to for the longest time. */
  get oldest(): Log | null {
    return this.#oldest;
  }

  /** Notes that a log is being written to. */
  touch(log: Log): void {
    if (log === this.#newest) return;
    this.remove(log);
    log.older = this.#newest;
    if (this.#newest !== null) this.#newest.newer = log;
    this.#newest = log;
    this.#oldest ??= log;
  }

  /** Does nothing if it is not among them. */
  remove(log: Log): void {
    const { older, newer } = log;
    if (older !== null) older.newer = newer;
    else if (this.#oldest === log) this.#oldest = newer;
    if (newer !== null) newer.older = older;
    else if (this.#newest === log) this.#newest = older;
    log.older = null;
    log.newer = null;
  }

  *[Symbol.iterator](): Generator<Log> {
    for (let log = this.#oldest; log !== null; log = log.newer) yield log;
  }
}
