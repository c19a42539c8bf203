import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type KeyRange, KEYS, speakerKey, writeKeys } from "./grams.ts";
import { chunksOf, MAX_MESSAGES, NUMBER_BITS, numbersIn } from "./postings.ts";
import { spokenIn } from "./spoken.ts";

/** Characters of a message that count as one more message, so that long ones fill a segment. */
const CHARACTERS_PER_MESSAGE = 256;

/** Bytes of the distance between the first message of a segment and another one, in sequences. */
const PLACE_BYTES = 4;

/** Messages that are read at once. */
const READ_AT_ONCE = 64;

/** Logs whose new messages are counted; beyond, all logs are looked at again. */
const MAX_COUNTED = 5000;

/** A place in a log. */
export interface LogPosition {
  /** Unix milliseconds. */
  readonly time: number;
  readonly sequence: number;
}

/** Before and after every message. */
export const OLDEST: LogPosition = { time: -1, sequence: -1 };
export const NEWEST: LogPosition = {
  time: Number.MAX_SAFE_INTEGER,
  sequence: Number.MAX_SAFE_INTEGER,
};

/** Consecutive messages of a log that are indexed together. */
export interface Segment {
  readonly id: number;
  /** Its oldest and its newest message. */
  readonly first: LogPosition;
  readonly last: LogPosition;
  /** The sequence of the message before the first; -1 if there was none. */
  readonly previous: number;
  /** The part of the index that may have the term which was given; null if none has. */
  readonly part: Uint8Array | null;
}

/** A part of a log. */
export interface Stretch {
  /** The messages before and after it. */
  readonly from: LogPosition;
  readonly to: LogPosition;
  readonly order: "oldest first" | "newest first";
}

/** Keys of which a message has one if it has a part of what is sought. */
export interface Term extends KeyRange {
  /** How many messages of a segment had one, as far as is known. */
  size: number;
}

/** Which messages may be meant, by their number in a segment. */
interface Candidates {
  /** Newest first. */
  readonly sequences: readonly number[];
  /** How many parts of the index were read. */
  readonly parts: number;
}

/** A message that is said in a log. */
export interface StoredMessage extends LogPosition {
  readonly content: string;
}

/**
 * An index of the texts in each log. It covers runs of messages, the segments; messages outside of
 * them are searched without it. A change of a message drops its segment in the same transaction, so the
 * file keeps nothing of what was removed, and {@link build} makes it again later.
 */
export class SearchIndex {
  readonly #database: DatabaseSync;
  readonly #speakerTag: string;
  readonly #segmentSize: number;
  readonly #statements = new Map<string, StatementSync>();
  /** The logs to look at. */
  readonly #waiting = new Set<number>();
  /** The size of the messages at the end of each log that may be in no segment. */
  readonly #counted = new Map<number, number>();
  /** Whether to look at every long log. */
  #isUnknown = true;

  /** @param segmentSize messages that fill a segment, at most 2,048 */
  constructor(database: DatabaseSync, speakerTag: string, segmentSize = MAX_MESSAGES) {
    this.#database = database;
    this.#speakerTag = speakerTag;
    this.#segmentSize = segmentSize;
  }

  /** Whether {@link build} may find something to do. */
  get isBehind(): boolean {
    return this.#isUnknown || this.#waiting.size > 0;
  }

  /** Records that a log has more messages; `size` as {@link sizeIn} counts. */
  grown(log: number, size: number): void {
    const count = (this.#counted.get(log) ?? 0) + size;
    this.#counted.set(log, count);
    if (count >= this.#segmentSize) this.#waiting.add(log);
    if (this.#counted.size <= MAX_COUNTED) return;
    this.#counted.clear();
    this.#isUnknown = true;
  }

  /** Looks at a log again. */
  recheck(log: number): void {
    this.#waiting.add(log);
  }

  /** Drops what is indexed of a log between two sequences, both included. */
  drop(log: number, from: number, to: number): void {
    const segments = this.#prepare(
      "SELECT id FROM search_segments WHERE target = ? AND first <= ? AND last >= ?",
    ).all(log, to, from);
    for (const row of segments) {
      const id = Number(row["id"]);
      this.#prepare("DELETE FROM search_postings WHERE place >= ? AND place < ?")
        .run(id * KEYS, (id + 1) * KEYS);
      this.#prepare("DELETE FROM search_segments WHERE id = ?").run(id);
    }
    if (segments.length > 0) this.#waiting.add(log);
  }

  /** Drops what is indexed of a log. */
  dropAll(log: number): void {
    this.drop(log, OLDEST.sequence, NEWEST.sequence);
  }

  /** The message of a sequence; null if it is gone. */
  message(sequence: number): StoredMessage | null {
    const row = this.#prepare(
      "SELECT sequence, time, content FROM entries WHERE sequence = ? AND kind = 0",
    ).get(sequence);
    return row === undefined ? null : messageOf(row);
  }

  /**
   * The newest segments of a log that have messages before a place, newest first.
   *
   * @param term to read the part of each segment that may have its first key
   */
  segmentsBefore(
    log: number,
    { time, sequence }: LogPosition,
    { limit, term }: { readonly limit: number; readonly term: Term | null },
  ): Segment[] {
    const part = term === null ? "NULL" : `(
      SELECT postings FROM search_postings
      WHERE place BETWEEN search_segments.id * ${KEYS} AND search_segments.id * ${KEYS} + ?
      ORDER BY place DESC LIMIT 1)`;
    return this.#prepare(
      `SELECT id, first, first_time, last, last_time, previous, ${part} AS part
       FROM search_segments
       WHERE target = ? AND first < ? AND first_time <= ? ORDER BY first DESC LIMIT ?`,
    ).all(...term === null ? [] : [term.from], log, sequence, time, limit).map((row) => ({
      id: Number(row["id"]),
      first: { time: Number(row["first_time"]), sequence: Number(row["first"]) },
      last: { time: Number(row["last_time"]), sequence: Number(row["last"]) },
      previous: Number(row["previous"]),
      part: row["part"] as Uint8Array | null,
    }));
  }

  /** The messages of a log between two places, neither included. */
  *messages(log: number, { from, to, order }: Stretch): Iterable<StoredMessage> {
    for (;;) {
      const messages = this.#prepare(`${selectOf(order)} LIMIT ${READ_AT_ONCE}`)
        .all(log, from.time, to.time, from.sequence, to.sequence).map(messageOf);
      yield* messages;
      const last = messages.at(-1);
      if (last === undefined || messages.length < READ_AT_ONCE) return;
      if (order === "oldest first") from = last;
      else to = last;
    }
  }

  /**
   * Those of the newest messages between two places that are like some patterns of SQL's LIKE.
   *
   * @param limit how many messages to look at
   * @returns them, newest first, and the last message that was looked at, which is null if all were
   */
  like(
    log: number,
    { from, to }: Pick<Stretch, "from" | "to">,
    { patterns, limit }: { readonly patterns: readonly string[]; readonly limit: number },
  ): { readonly messages: StoredMessage[]; readonly last: LogPosition | null } {
    const bounds = [log, from.time, to.time, from.sequence, to.sequence];
    const select = selectOf("newest first");
    const alike = patterns.map(() => "AND content LIKE ? ESCAPE '\\'").join(" ");
    const messages = this.#prepare(`SELECT * FROM (${select} LIMIT ?) WHERE 1 ${alike}`)
      .all(...bounds, limit, ...patterns).map(messageOf);
    const last = this.#prepare(`${select} LIMIT 1 OFFSET ?`).get(...bounds, limit - 1);
    return { messages, last: last === undefined ? null : messageOf(last) };
  }

  /**
   * The sequences of a segment's messages that may have a key of each of these terms.
   *
   * @param terms at least one; sorted here, so that the rarest is looked up first
   * @param read the term whose part the segment has; null if it has none
   */
  candidates({ id, first, part }: Segment, terms: Term[], read: Term | null): Candidates {
    let found: number[] | null = null;
    let parts = 0;
    terms.sort((one, other) => one.size - other.size);
    for (const [index, term] of terms.entries()) {
      const numbers = term === read
        ? part === null ? [] : numbersIn(part, term)
        : this.#numbers(id, term);
      parts++;
      term.size = (term.size + numbers.length) / 2;
      found = found === null ? numbers : inBoth(found, numbers);
      if (found.length === 0) return { sequences: [], parts };
      // To read a few messages costs less than to look up many keys.
      if (2 * found.length < terms.length - index) break;
    }
    const row = this.#prepare("SELECT places FROM search_segments WHERE id = ?").get(id);
    const { buffer, byteOffset } = row?.["places"] as Uint8Array;
    const places = new DataView(buffer, byteOffset);
    const sequences = (found ?? []).map((number) => {
      return first.sequence + places.getUint32(number * PLACE_BYTES);
    });
    return { sequences: sequences.reverse(), parts };
  }

  /**
   * Indexes up to 2,048 messages that are in no segment, if a log has as many, or if a segment of
   * theirs was dropped. Call it in a transaction.
   */
  build(): void {
    if (this.#isUnknown) {
      const long = this.#prepare("SELECT id FROM targets WHERE records >= ?").all(
        this.#segmentSize,
      );
      for (const row of long) this.#waiting.add(Number(row["id"]));
      this.#isUnknown = false;
    }
    for (const log of this.#waiting) {
      const messages = this.#unindexed(log);
      if (messages !== null) return this.#index(log, messages);
      this.#waiting.delete(log);
    }
  }

  /** Messages of a log to index next, oldest first; null if there are none. */
  #unindexed(log: number): StoredMessage[] | null {
    let to = NEWEST;
    const limit = Number.MAX_SAFE_INTEGER;
    const segments = this.segmentsBefore(log, to, { limit, term: null });
    for (const [index, segment] of [...segments, null].entries()) {
      const from = segment?.last ?? OLDEST;
      const isEnd = index === 0;
      // What is left over is at the end, which grows, or at the start, which retention removes.
      const order = isEnd && segment !== null ? "oldest first" : "newest first";
      const isJoined = segment !== null && segments[index - 1]?.previous === segment.last.sequence;
      const found = isJoined ? [] : this.messages(log, { from, to, order });
      const { messages, size } = sizedRun(found, this.#segmentSize);
      const isFull = size >= this.#segmentSize;
      if (isEnd) this.#counted.set(log, isFull ? 0 : size);
      if (isFull || (!isEnd && segment !== null && size > 0)) {
        return order === "oldest first" ? messages : messages.reverse();
      }
      to = segment?.first ?? OLDEST;
    }
    return null;
  }

  #index(log: number, messages: readonly StoredMessage[]): void {
    const [first, last] = [messages[0], messages.at(-1)];
    if (first === undefined || last === undefined) return;
    const before = { from: OLDEST, to: first, order: "newest first" } as const;
    const [previous = OLDEST] = this.messages(log, before);
    const places = new DataView(new ArrayBuffer(messages.length * PLACE_BYTES));
    for (const [number, { sequence }] of messages.entries()) {
      places.setUint32(number * PLACE_BYTES, sequence - first.sequence);
    }
    const { lastInsertRowid } = this.#prepare(
      `INSERT INTO search_segments
         (target, first, first_time, last, last_time, previous, places)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ).run(
      log,
      first.sequence,
      first.time,
      last.sequence,
      last.time,
      previous.sequence,
      new Uint8Array(places.buffer),
    );
    const insert = this.#prepare("INSERT INTO search_postings (place, postings) VALUES (?, ?)");
    for (const { firstKey, bytes } of chunksOf(this.#pairsOf(messages))) {
      insert.run(Number(lastInsertRowid) * KEYS + firstKey, bytes);
    }
  }

  /** The keys of messages, each with the number of its message. */
  #pairsOf(messages: readonly StoredMessage[]): Uint32Array {
    const texts = messages.map(({ content }) => this.#textOf(content));
    const room = texts.reduce((sum, { text }) => sum + text.length + 1, 0);
    const pairs = new Uint32Array(room);
    let at = 0;
    for (const [number, { nick, text }] of texts.entries()) {
      pairs[at++] = (speakerKey(nick) << NUMBER_BITS) | number;
      at = writeKeys(text, { low: number, bits: NUMBER_BITS, into: pairs, at });
    }
    return pairs;
  }

  #textOf(content: string): { readonly nick: string; readonly text: string } {
    const { nick, lines } = spokenIn(content, this.#speakerTag);
    return { nick, text: lines.map((line) => line.toLowerCase()).join("\n") };
  }

  /** The numbers of a segment's messages that have a key of a range, in order. */
  #numbers(segment: number, term: KeyRange): number[] {
    const start = segment * KEYS;
    const [from, to] = [start + term.from, start + term.to];
    const parts = this.#prepare(
      `SELECT postings FROM search_postings WHERE place <= ? AND place >= coalesce(
         (SELECT place FROM search_postings WHERE place BETWEEN ? AND ? ORDER BY place DESC LIMIT 1),
         ?)
       ORDER BY place`,
    ).all(to, start, from, from);
    const numbers = parts.map((row) => numbersIn(row["postings"] as Uint8Array, term));
    if (numbers.length <= 1) return numbers[0] ?? [];
    return [...new Set(numbers.flat())].sort((one, other) => one - other);
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** A query of what was said in a log between two places. */
function selectOf(order: Stretch["order"]): string {
  const direction = order === "oldest first" ? "ASC" : "DESC";
  return `SELECT sequence, time, content FROM entries
    WHERE target = ? AND kind = 0 AND time BETWEEN ? AND ? AND sequence > ? AND sequence < ?
    ORDER BY time ${direction}, sequence ${direction}`;
}

/** What is in both of two sorted lists. */
function inBoth(some: readonly number[], others: readonly number[]): number[] {
  const both: number[] = [];
  let at = 0;
  for (const number of some) {
    while ((others[at] ?? number) < number) at++;
    if (others[at] === number) both.push(number);
  }
  return both;
}

/** How much of a segment a message of this content fills, in messages. */
export function sizeIn(content: string): number {
  return Math.max(1, content.length / CHARACTERS_PER_MESSAGE);
}

/** The first messages that fill a segment, or all of them, and how much of it they fill. */
function sizedRun(
  from: Iterable<StoredMessage>,
  full: number,
): { messages: StoredMessage[]; size: number } {
  const messages: StoredMessage[] = [];
  let size = 0;
  for (const message of from) {
    messages.push(message);
    size += sizeIn(message.content);
    if (size >= full) break;
  }
  return { messages, size };
}

function messageOf(row: Record<string, unknown>): StoredMessage {
  const { sequence, time, content } = row;
  return { sequence: Number(sequence), time: Number(time), content: String(content) };
}
