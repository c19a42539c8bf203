import type { HistoryRecord } from "../../../engines/irc/mod.ts";
import { speakerKey, termsOf } from "./grams.ts";
import type { FoundMoment, FoundRecords, RecordSearch } from "./protocol.ts";
import {
  type LogPosition,
  NEWEST,
  OLDEST,
  type SearchIndex,
  type Segment,
  type StoredMessage,
  type Term,
} from "./search_index.ts";
import { SpokenMatcher } from "./spoken.ts";

/**
 * Most work of one answer, in messages looked at: other requests wait for it. To read a part of the
 * index costs about as much as a message.
 */
const MAX_WORK = 4000;

/** Segments that are read at once. */
const MAX_PAGE = 64;

/** Messages that SQLite looks at in one statement, and what one costs of what it costs to read it. */
const LOOKED_AT_ONCE = 256;
const WORK_OF_A_LOOK = 0.3;

/** Characters of a message that cost as much as another message. */
const CHARACTERS_PER_MESSAGE = 1024;

export interface ArchiveSearchOptions {
  readonly index: SearchIndex;
  readonly speakerTag: string;
  /** The id of the log. */
  readonly log: number;
  readonly wanted: RecordSearch;
  /** All that was said in a log in a millisecond, oldest first, with the sequences. */
  readonly saidAt: (log: number, time: number) => readonly (HistoryRecord & LogPosition)[];
}

/**
 * One search of a log, from its newest message back. It looks up what is indexed, and reads the
 * rest.
 */
export class ArchiveSearch {
  readonly #options: ArchiveSearchOptions;
  readonly #matcher: SpokenMatcher;
  readonly #terms: Term[];
  /** The term whose parts the present segments have. */
  #rarest: Term | null = null;
  readonly #found: LogPosition[] = [];
  /** How many of them count towards the limit. */
  #counted = 0;
  #work = 0;

  constructor(options: ArchiveSearchOptions) {
    const { wanted: { sought }, speakerTag } = options;
    this.#options = options;
    this.#matcher = new SpokenMatcher(sought, speakerTag);
    const speakers = sought.speakers.map(speakerKey).map((key) => ({ from: key, to: key }));
    this.#terms = [...sought.words.flatMap(termsOf), ...speakers]
      .map(({ from, to }) => ({ from, to, size: 0 }));
  }

  /** Finds messages until there are enough, or it has done enough work. */
  run(): FoundRecords {
    const { wanted: { upTo, from } } = this.#options;
    let to = from ?? { time: upTo ?? NEWEST.time, sequence: NEWEST.sequence };
    let joined: number | null = null;
    for (const segment of this.#segments(to)) {
      const isJoined = segment.last.sequence === joined;
      const reached = (isJoined ? null : this.#read(segment.last, to)) ??
        this.#lookUp(segment, to);
      if (reached !== null) return { moments: this.#moments(), reached };
      to = segment.first;
      joined = segment.previous;
    }
    const reached = this.#read(OLDEST, to);
    return { moments: this.#moments(), reached };
  }

  /** The segments before a place, newest first, read in pages that grow. */
  *#segments(before: LogPosition): Iterable<Segment> {
    const { index, log } = this.#options;
    for (let limit = 1;; limit = Math.min(limit * 4, MAX_PAGE)) {
      const [first] = this.#terms;
      // Without a word, every message is meant.
      if (first === undefined) return;
      this.#rarest = first.from === first.to ? first : null;
      const segments = index.segmentsBefore(log, before, { limit, term: this.#rarest });
      yield* segments;
      const last = segments.at(-1);
      if (last === undefined || segments.length < limit) return;
      before = last.first;
    }
  }

  /** Reads the messages between two places. Returns where it stopped; null if it read them all. */
  #read(from: LogPosition, to: LogPosition): LogPosition | null {
    const { index, log } = this.#options;
    for (;;) {
      const sought = { patterns: this.#matcher.patterns, limit: LOOKED_AT_ONCE };
      const { messages, last } = index.like(log, { from, to }, sought);
      for (const message of messages) {
        if (this.#isEnoughAfter(message)) return message;
      }
      if (last === null) return null;
      this.#work += LOOKED_AT_ONCE * WORK_OF_A_LOOK;
      if (this.#work > MAX_WORK) return last;
      to = last;
    }
  }

  /** The same with the messages of a segment, of which it reads only those that may be meant. */
  #lookUp(segment: Segment, to: LogPosition): LogPosition | null {
    const { index } = this.#options;
    const { sequences, parts } = index.candidates(segment, this.#terms, this.#rarest);
    this.#work += parts;
    for (const sequence of sequences) {
      if (sequence >= to.sequence) continue;
      const message = index.message(sequence);
      if (message === null || message.time > to.time) continue;
      if (this.#isEnoughAfter(message)) return message;
    }
    return this.#work > MAX_WORK ? segment.first : null;
  }

  /** Looks at a message. Returns whether that is enough. */
  #isEnoughAfter({ time, sequence, content }: StoredMessage): boolean {
    const { upTo, limit } = this.#options.wanted;
    this.#work += 1 + content.length / CHARACTERS_PER_MESSAGE;
    if (this.#matcher.matches(content)) {
      this.#found.push({ time, sequence });
      if (time !== upTo) this.#counted++;
    }
    return this.#counted >= limit || this.#work > MAX_WORK;
  }

  #moments(): FoundMoment[] {
    const { log, saidAt } = this.#options;
    const found = new Map<number, Set<number>>();
    for (const { time, sequence } of this.#found) {
      const sequences = found.get(time) ?? new Set();
      found.set(time, sequences.add(sequence));
    }
    return Array.from(found, ([time, sequences]) => {
      const said = saidAt(log, time);
      const last = said.findLastIndex(({ sequence }) => sequences.has(sequence));
      const records = said.slice(0, last + 1)
        .map(({ id, kind, content }) => ({ id, time, kind, content }));
      const hits = said.flatMap(({ sequence }, index) => sequences.has(sequence) ? [index] : []);
      return { records, hits };
    });
  }
}
