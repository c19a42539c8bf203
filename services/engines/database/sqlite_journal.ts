import type { DatabaseSync, StatementSync } from "node:sqlite";
import {
  type ChainPosition,
  type Checkpoint,
  type CheckpointName,
  Journal,
  type JournalKey,
  type NewEvent,
  type StoredEnd,
  type Trim,
} from "./journal.ts";

/** Writes the event log into a SQLite file. Its methods run inside the caller's transaction. */
export class SqliteJournal {
  readonly #statements: Statements;
  readonly #journal: Journal;

  constructor(database: DatabaseSync, key: JournalKey | null) {
    this.#statements = prepare(database);
    this.#journal = new Journal(key);
    if (key?.isNew === true) this.#setCheckpoint("head", this.#journal.firstHead(this.#end()));
  }

  /**
   * Appends events; see {@linkcode Journal.extend}.
   *
   * @returns the sequence number of each
   */
  append(events: readonly NewEvent[]): readonly number[] {
    const [first, ...others] = events;
    if (first === undefined) return [];
    const { rows, sequence, end } = this.#journal.extend(this.#end(), [first, ...others]);
    for (const { seq, time, type, actor, actorId, address, cause, data, hash } of rows) {
      this.#statements.insert.run(seq, time, type, actor, actorId, address, cause, data, hash);
    }
    this.#setCheckpoint("head", end.head);
    return sequence;
  }

  /**
   * Removes rows from the start of the log; see {@linkcode Journal.removal}.
   *
   * @returns how many were removed
   */
  trim(trim: Trim): number {
    const newest = this.#last()?.seq ?? 0;
    const oldest = this.#statements.oldest.all(newest, trim.limit).map((row) => (
      { ...placeOf(row), time: Number(row["time"]) }
    ));
    const removal = this.#journal.removal(oldest, newest, trim);
    if (removal === null) return 0;
    this.#statements.remove.run(removal.base.seq);
    this.#setCheckpoint("base", this.#journal.checkpoint("base", removal.base));
    return removal.count;
  }

  #end(): StoredEnd {
    return { last: this.#last(), head: this.#journal.isSealed ? this.#head() : null };
  }

  #last(): ChainPosition | null {
    const row = this.#statements.last.get();
    return row === undefined ? null : placeOf(row);
  }

  #head(): Checkpoint | null {
    const row = this.#statements.checkpoint.get("head");
    return row === undefined ? null : { ...placeOf(row), seal: String(row["seal"]) };
  }

  #setCheckpoint(name: CheckpointName, checkpoint: Checkpoint | null): void {
    if (checkpoint === null) return;
    this.#statements.setCheckpoint.run(name, checkpoint.seq, checkpoint.hash, checkpoint.seal);
  }
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

function placeOf(row: Record<string, unknown>): ChainPosition {
  return { seq: Number(row["seq"]), hash: String(row["hash"]) };
}
