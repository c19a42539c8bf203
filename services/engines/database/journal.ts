import { type ChainedRow, eventHash, GENESIS, Seal } from "./chain.ts";

/** An event from a service; the journal adds its number and its hash. */
export interface NewEvent {
  /** Unix milliseconds. */
  readonly time: number;
  readonly type: string;
  readonly actor: string;
  readonly actorId: string | null;
  readonly address: string | null;
  readonly cause: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The key under which the ends of the log are sealed. */
export interface JournalKey {
  /** At least 32 random bytes, as text. */
  readonly key: string;
  /** Whether the key was just created, so that the log is sealed as it is. */
  readonly isNew: boolean;
}

/** The type of the event that says that rows were changed behind the program's back. */
export const DAMAGED = "log.damaged";

/** A position in the log. */
export interface ChainPosition {
  readonly seq: number;
  readonly hash: string;
}

/** A position with the seal that is stored beside it. */
export interface Checkpoint extends ChainPosition {
  readonly seal: string;
}

/** The last row that was written, and the last one that retention removed. */
export type CheckpointName = "head" | "base";

/** The start of the log. */
const ORIGIN: ChainPosition = Object.freeze({ seq: 0, hash: GENESIS });

/** The end of the log as it is stored. */
export interface StoredEnd {
  /** The last row; null if there is none. */
  readonly last: ChainPosition | null;
  /** The sealed one; null if it is missing. Nobody reads it without a key. */
  readonly head: Checkpoint | null;
}

/** A row as it is written. */
export interface JournalRow extends ChainedRow {
  readonly hash: string;
}

/** What appending events writes. */
export interface Extension {
  readonly rows: readonly JournalRow[];
  /** The number of each event; a row about damage precedes them and is not among them. */
  readonly sequence: readonly number[];
  /** The end that they make. */
  readonly end: StoredEnd;
}

/** What trimming removes: the rows up to `base`, and how many they are. */
export interface Removal {
  readonly count: number;
  readonly base: ChainPosition;
}

/** What retention asks of the journal. */
export interface Trim {
  /** Most rows to keep. */
  readonly keep: number;
  /** Unix milliseconds; older rows are removed. */
  readonly before: number;
  /** Most rows removed at once. */
  readonly limit: number;
}

/**
 * How the event log goes on. It computes what a store writes, and the store does so in the
 * transaction in which it read the end.
 *
 * Every row's hash covers the row before it. With a key, two sealed checkpoints are stored beside
 * the rows: `head` is the last row, `base` the last one that retention removed. So nobody without
 * the key can change, remove or add a row unnoticed.
 */
export class Journal {
  readonly #seal: Seal | null;

  constructor(key: JournalKey | null) {
    this.#seal = key === null ? null : new Seal(key.key);
  }

  /** Whether the ends of the log are sealed, so that appending needs the stored head. */
  get isSealed(): boolean {
    return this.#seal !== null;
  }

  /** The head of a log that has none, as it is; null if it has one, or nothing is sealed. */
  firstHead({ last, head }: StoredEnd): Checkpoint | null {
    return head === null ? this.checkpoint("head", last ?? ORIGIN) : null;
  }

  /**
   * Continues the log. If its end was changed, an event about that comes first, and the numbers of
   * missing rows are not reused.
   */
  extend(end: StoredEnd, events: readonly [NewEvent, ...NewEvent[]]): Extension {
    const { problem, ...tail } = this.#tail(end);
    const rows: JournalRow[] = [];
    let last: ChainPosition = tail;
    const add = (event: NewEvent) => {
      const row = rowAfter(last, event);
      rows.push(row);
      last = row;
      return row.seq;
    };
    if (problem !== null) add(damaged(problem, events[0].time));
    const sequence = events.map(add);
    return { rows, sequence, end: { last, head: this.checkpoint("head", last) } };
  }

  /**
   * Chooses the rows that retention removes from the start of the log: those beyond `keep` and those
   * from before a time, at most `limit` at once.
   *
   * @param oldest the first rows of the log without the last one, at most `limit`
   * @param newest the number of the last row
   * @returns null if it removes none
   */
  removal(
    oldest: readonly (ChainPosition & { readonly time: number })[],
    newest: number,
    { keep, before }: Trim,
  ): Removal | null {
    const kept = oldest.findIndex(({ seq, time }) => time >= before && seq > newest - keep);
    const removed = kept < 0 ? oldest : oldest.slice(0, kept);
    const base = removed.at(-1);
    return base === undefined ? null : { count: removed.length, base };
  }

  /** A sealed position; null without a key. */
  checkpoint(name: CheckpointName, { seq, hash }: ChainPosition): Checkpoint | null {
    if (this.#seal === null) return null;
    return { seq, hash, seal: this.#seal.of(name, { seq, hash }) };
  }

  /** The end of the log, and what is wrong with it. */
  #tail({ last: stored, head }: StoredEnd): ChainPosition & { readonly problem: string | null } {
    const last = stored ?? ORIGIN;
    if (this.#seal === null) return { ...last, problem: null };
    if (head === null) return { ...last, problem: "the head of the log is missing" };
    if (!this.#seal.holds("head", head)) {
      return { ...last, problem: "the head of the log is not sealed with its key" };
    }
    const { seq, hash } = head;
    if (seq === last.seq && hash === last.hash) return { seq, hash, problem: null };
    return { seq: Math.max(seq, last.seq), hash, problem: "the last rows of the log were changed" };
  }
}

function rowAfter(previous: ChainPosition, event: NewEvent): JournalRow {
  const { time, type, actor, actorId, address, cause } = event;
  const data = JSON.stringify(event.data);
  const row = { seq: previous.seq + 1, time, type, actor, actorId, address, cause, data };
  return { ...row, hash: eventHash(previous.hash, row) };
}

function damaged(problem: string, time: number): NewEvent {
  const nobody = { actor: "system", actorId: null, address: null, cause: null };
  return { time, type: DAMAGED, ...nobody, data: { problem } };
}
