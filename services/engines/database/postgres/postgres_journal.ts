import type { ChainedRow } from "../chain.ts";
import {
  type ChainPosition,
  type Checkpoint,
  type CheckpointName,
  Journal,
  type JournalKey,
  type JournalRow,
  type NewEvent,
  type StoredEnd,
  type Trim,
} from "../journal.ts";
import type { AppendedEvent, SqlValue } from "../protocol.ts";
import { type Query, type QueryOutcome, storable } from "./connection.ts";
import type { WritingSession } from "./session.ts";

/**
 * A transaction that appends to the log holds this lock to its end: so the order of the
 * numbers is that of the commits, and no reader misses an event.
 */
export const LOG_LOCK: Query = [
  "SELECT pg_advisory_xact_lock(hashtextextended('muster events ' || current_schema(), 0))",
];

/** Reads the end of the log; see {@linkcode endOf}. */
export const READ_END: Query = [
  `(SELECT 'last' AS name, seq, hash, '' AS seal FROM events ORDER BY seq DESC LIMIT 1)
   UNION ALL SELECT name, seq, hash, seal FROM checkpoints WHERE name = 'head'`,
];

/** Writes the event log into PostgreSQL, inside the caller's transaction. */
export class PostgresJournal {
  readonly #journal: Journal;

  constructor(key: JournalKey | null) {
    this.#journal = new Journal(key);
  }

  /** Seals a log that has no seal: its key is new, or the log is. */
  async begin(session: WritingSession): Promise<void> {
    const [end] = await session.run([READ_END]);
    await session.run(this.#setting("head", this.#journal.firstHead(endOf(end))));
  }

  /**
   * Continues the log; see {@linkcode Journal.extend}.
   *
   * @returns the number of each event, all rows that are new, what is to be written, and the new end
   */
  append(end: StoredEnd, events: readonly [NewEvent, ...NewEvent[]]): {
    readonly sequence: readonly number[];
    readonly appended: readonly AppendedEvent[];
    readonly queries: readonly Query[];
    readonly end: StoredEnd;
  } {
    const { rows, sequence, end: next } = this.#journal.extend(end, textsOf(events));
    const queries = [...rows.map(insertion), ...this.#setting("head", next.head)];
    return { sequence, appended: rows.map(storedAs), queries, end: next };
  }

  /**
   * Removes rows from the start of the log; see {@linkcode Journal.removal}.
   *
   * @returns how many were removed
   */
  async trim(session: WritingSession, trim: Trim): Promise<number> {
    const [end] = await session.run([READ_END]);
    const newest = endOf(end).last?.seq ?? 0;
    const [found] = await session.run([[
      "SELECT seq, time, hash FROM events WHERE seq < $1 ORDER BY seq LIMIT $2",
      [newest, trim.limit],
    ]]);
    const oldest = (found?.rows ?? []).map((row) => ({
      ...placeOf(row),
      time: Number(row["time"]),
    }));
    const removal = this.#journal.removal(oldest, newest, trim);
    if (removal === null) return 0;
    await session.run([
      ["DELETE FROM events WHERE seq <= $1", [removal.base.seq]],
      ...this.#setting("base", this.#journal.checkpoint("base", removal.base)),
    ]);
    return removal.count;
  }

  #setting(name: CheckpointName, checkpoint: Checkpoint | null): Query[] {
    if (checkpoint === null) return [];
    return [[
      `INSERT INTO checkpoints (name, seq, hash, seal) VALUES ($1, $2, $3, $4)
       ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, hash = excluded.hash,
         seal = excluded.seal`,
      [name, checkpoint.seq, checkpoint.hash, checkpoint.seal],
    ]];
  }
}

/** What {@linkcode READ_END} found. */
export function endOf(found: QueryOutcome | undefined): StoredEnd {
  const named = (name: string) => found?.rows.find((row) => row["name"] === name);
  const [last, head] = [named("last"), named("head")];
  return {
    last: last === undefined ? null : placeOf(last),
    head: head === undefined ? null : { ...placeOf(head), seal: String(head["seal"]) },
  };
}

function storedAs({ actorId, ...row }: JournalRow): AppendedEvent {
  const { seq, time, type, actor, address, cause, data, hash } = row;
  return { seq, time, type, actor, actor_id: actorId, address, cause, data, hash };
}

function insertion(row: JournalRow): Query {
  const { seq, time, type, actor, actorId, address, cause, data, hash } = row;
  return [
    `INSERT INTO events
       (seq, time, type, actor, actor_id, address, cause, data, hash, project_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [seq, time, type, actor, actorId, address, cause, data, hash, projectOf(row)],
  ];
}

/** The hash must cover the texts as they are stored. */
function textsOf(events: readonly [NewEvent, ...NewEvent[]]): [NewEvent, ...NewEvent[]] {
  const [first, ...others] = events;
  return [withTexts(first), ...others.map(withTexts)];
}

function withTexts(event: NewEvent): NewEvent {
  const { time, data, actorId, address, cause } = event;
  const text = <Value extends SqlValue>(value: Value) => storable(value) as Value;
  return {
    time,
    data,
    type: text(event.type),
    actor: text(event.actor),
    actorId: text(actorId),
    address: text(address),
    cause: text(cause),
  };
}

function placeOf(row: Record<string, unknown>): ChainPosition {
  return { seq: Number(row["seq"]), hash: String(row["hash"]) };
}

/** The internal id of the project that an event is about; null if it is about none. */
export function projectOf({ type, data }: Pick<ChainedRow, "type" | "data">): string | null {
  if (!type.startsWith("project.")) return null;
  const { project_id: id } = JSON.parse(data) as { readonly project_id?: unknown };
  return typeof id === "string" ? id : null;
}
