import type { DatabaseSync, StatementSync } from "node:sqlite";
import { eventHash, GENESIS, Seal } from "./chain.ts";

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
interface Place {
  readonly seq: number;
  readonly hash: string;
}

/** The start of the log. */
const ORIGIN: Place = Object.freeze({ seq: 0, hash: GENESIS });

/** The end of the log, and what is wrong with it. */
interface Tail extends Place {
  readonly problem: string | null;
}

/**
 * Writes the event log. Its methods run inside the caller's transaction.
 *
 * Every row's hash covers the row before it. With a key, two sealed checkpoints are stored beside
 * the rows: `head` is the last row, `base` the last one that retention removed. So nobody without
 * the key can change, remove or add a row unnoticed.
 */
export class Journal {
  readonly #statements: Statements;
  readonly #seal: Seal | null;

  constructor(database: DatabaseSync, key: JournalKey | null) {
    this.#statements = prepare(database);
    this.#seal = key === null ? null : new Seal(key.key);
    if (key?.isNew === true && this.#checkpoint("head") === null) {
      this.#setCheckpoint("head", this.#last() ?? ORIGIN);
    }
  }

  /**
   * Appends events. If the end of the log was changed, appends an event about that first, and does
   * not reuse the numbers of missing rows.
   *
   * @returns the sequence number of each
   */
  append(events: readonly NewEvent[]): number[] {
    const [first] = events;
    if (first === undefined) return [];
    const { problem, ...tail } = this.#tail();
    let last: Place = tail;
    if (problem !== null) last = this.#insert(last, damaged(problem, first.time));
    const sequence = events.map((event) => {
      last = this.#insert(last, event);
      return last.seq;
    });
    this.#setCheckpoint("head", last);
    return sequence;
  }

  /**
   * Removes rows from the start of the log, but never the last one: those beyond `keep` and those
   * from before a time, at most `limit` at once.
   *
   * @returns how many were removed
   */
  trim({ keep, before, limit }: Trim): number {
    const newest = this.#last()?.seq ?? 0;
    const oldest = this.#statements.oldest.all(newest, limit);
    const kept = oldest.findIndex(({ seq, time }) =>
      Number(time) >= before && Number(seq) > newest - keep
    );
    const removed = kept < 0 ? oldest : oldest.slice(0, kept);
    const last = removed.at(-1);
    if (last === undefined) return 0;
    this.#statements.remove.run(Number(last["seq"]));
    this.#setCheckpoint("base", placeOf(last));
    return removed.length;
  }

  #insert(previous: Place, event: NewEvent): Place {
    const { time, type, actor, actorId, address, cause } = event;
    const seq = previous.seq + 1;
    const data = JSON.stringify(event.data);
    const hash = eventHash(previous.hash, {
      seq,
      time,
      type,
      actor,
      actorId,
      address,
      cause,
      data,
    });
    this.#statements.insert.run(seq, time, type, actor, actorId, address, cause, data, hash);
    return { seq, hash };
  }

  #last(): Place | null {
    const row = this.#statements.last.get();
    return row === undefined ? null : placeOf(row);
  }

  #tail(): Tail {
    const last = this.#last() ?? ORIGIN;
    if (this.#seal === null) return { ...last, problem: null };
    const head = this.#checkpoint("head");
    if (head === null) return { ...last, problem: "the head of the log is missing" };
    if (!this.#seal.holds("head", head)) {
      return { ...last, problem: "the head of the log is not sealed with its key" };
    }
    const { seq, hash } = head;
    if (seq === last.seq && hash === last.hash) return { seq, hash, problem: null };
    return { seq: Math.max(seq, last.seq), hash, problem: "the last rows of the log were changed" };
  }

  #checkpoint(name: CheckpointName): Place & { seal: string } | null {
    const row = this.#statements.checkpoint.get(name);
    return row === undefined ? null : { ...placeOf(row), seal: String(row["seal"]) };
  }

  #setCheckpoint(name: CheckpointName, { seq, hash }: Place): void {
    if (this.#seal === null) return;
    this.#statements.setCheckpoint.run(name, seq, hash, this.#seal.of(name, { seq, hash }));
  }
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

type Statements = Readonly<
  Record<
    "insert" | "last" | "oldest" | "remove" | "checkpoint" | "setCheckpoint",
    StatementSync
  >
>;

function prepare(database: DatabaseSync): Statements {
  return {
    insert: database.prepare(
      `INSERT INTO events (seq, time, type, actor, actor_id, address, cause, data, hash)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    last: database.prepare("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1"),
    oldest: database.prepare(
      "SELECT seq, time, hash FROM events WHERE seq < ? ORDER BY seq LIMIT ?",
    ),
    remove: database.prepare("DELETE FROM events WHERE seq <= ?"),
    checkpoint: database.prepare("SELECT seq, hash, seal FROM checkpoints WHERE name = ?"),
    setCheckpoint: database.prepare(
      `INSERT INTO checkpoints (name, seq, hash, seal) VALUES (?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, hash = excluded.hash,
         seal = excluded.seal`,
    ),
  };
}

type CheckpointName = "base" | "head";

function placeOf(row: Record<string, unknown>): Place {
  return { seq: Number(row["seq"]), hash: String(row["hash"]) };
}

function damaged(problem: string, time: number): NewEvent {
  const nobody = { actor: "system", actorId: null, address: null, cause: null };
  return { time, type: DAMAGED, ...nobody, data: { problem } };
}
