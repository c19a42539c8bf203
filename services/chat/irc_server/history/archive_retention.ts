import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SearchIndex } from "./search_index.ts";
import type { Retention } from "./extent.ts";

/** A row to remove. */
interface Victim {
  readonly sequence: number;
  readonly target: number;
  /** Unix milliseconds; 0 unless it is a message. */
  readonly saidAt: number;
}

/** Retention stops removing at this share of the allowed size. */
const BYTES_LEFT = 0.9;

/** A log may exceed its limit by this share before a write shortens it. */
const RECORDS_OVER = 0.05;

/** Most records that a write removes for each record that it adds to a log. */
const REMOVED_PER_RECORD = 2;

/**
 * Removes the rows of logs that are empty, but not of channels of which it must be known that
 * something was removed: of the newest 10,000.
 */
export const FORGET_EMPTY = `
  DELETE FROM targets WHERE records = 0 AND (
    account <> '' OR trimmed = 0 OR id <= (
      SELECT id FROM targets WHERE account = '' ORDER BY id DESC LIMIT 1 OFFSET 10000
    )
  )`;

/** What of a record its removal needs. */
const VICTIM = "sequence, target, CASE kind WHEN 0 THEN time ELSE 0 END AS said_at";

/** Records removed between two checks of the file's size. */
const SHRINK_STEP = 200;

/** Removes the oldest records of the archive, within a transaction of its file. */
export class ArchiveRetention {
  readonly #database: DatabaseSync;
  readonly #index: SearchIndex;
  readonly #recordsOf: StatementSync;
  readonly #count: StatementSync;
  /** The number of pages, of free pages, and of bytes per page. */
  readonly #pages: StatementSync;

  constructor(database: DatabaseSync, index: SearchIndex) {
    this.#database = database;
    this.#index = index;
    this.#recordsOf = database.prepare("SELECT records FROM targets WHERE id = ?");
    this.#count = database.prepare(
      "UPDATE targets SET records = records - ?, trimmed = max(trimmed, ?) WHERE id = ?",
    );
    this.#pages = database.prepare(
      `SELECT page_count AS total, freelist_count AS free, page_size AS bytes
       FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
    );
  }

  /**
   * Removes what retention does not keep.
   *
   * @param now Unix time in milliseconds
   * @param most the most records to remove
   * @returns how many it removed; fewer than `most` means that it is done
   */
  trim({ age, records, bytes }: Retention, now: number, most: number): number {
    let removed = 0;
    if (age !== null) removed += this.#remove(this.#olderThan(now - age, most));
    if (records !== null && removed < most) {
      removed += this.#remove(this.#beyond(records, most - removed));
    }
    if (bytes !== null && removed < most) removed += this.#shrink(bytes, most - removed);
    if (removed < most) this.#database.exec(FORGET_EMPTY);
    return removed;
  }

  /**
   * Removes records of logs that are well beyond their limit.
   *
   * @param added how many records each log has got, by its id
   */
  shorten(added: ReadonlyMap<number, number>, records: number): void {
    for (const [target, count] of added) {
      const row = this.#recordsOf.get(target);
      const excess = Number(row?.["records"] ?? 0) - records;
      if (excess <= records * RECORDS_OVER) continue;
      this.#remove(this.#oldest(target, Math.min(excess, count * REMOVED_PER_RECORD)));
    }
  }

  /** Used bytes of the file. */
  countBytes(): number {
    const { total, free, bytes } = this.#pages.get() ?? {};
    return (Number(total) - Number(free)) * Number(bytes);
  }

  #oldest(target: number, count: number): Victim[] {
    return this.#database.prepare(
      `SELECT ${VICTIM} FROM entries WHERE target = ? ORDER BY time, sequence LIMIT ?`,
    ).all(target, count).map(victim);
  }

  #olderThan(time: number, most: number): Victim[] {
    const oldest = this.#database
      .prepare(`SELECT ${VICTIM}, time FROM entries ORDER BY sequence LIMIT ?`).all(most);
    return oldest.filter((row) => Number(row["time"]) < time).map(victim);
  }

  /** The surplus records of logs over the limit. */
  #beyond(records: number, most: number): Victim[] {
    const long = this.#database
      .prepare("SELECT id, records FROM targets WHERE records > ?").all(records);
    const victims: Victim[] = [];
    for (const row of long) {
      const excess = Math.min(Number(row["records"]) - records, most - victims.length);
      if (excess > 0) victims.push(...this.#oldest(Number(row["id"]), excess));
    }
    return victims;
  }

  /** Removes the oldest records while the file is too full. */
  #shrink(bytes: number, most: number): number {
    if (this.countBytes() <= bytes) return 0;
    const oldest = this.#database
      .prepare(`SELECT ${VICTIM} FROM entries ORDER BY sequence LIMIT ?`);
    let removed = 0;
    while (removed < most && this.countBytes() > bytes * BYTES_LEFT) {
      const victims = oldest.all(Math.min(most - removed, SHRINK_STEP)).map(victim);
      if (victims.length === 0) break;
      removed += this.#remove(victims);
    }
    return removed;
  }

  #remove(victims: readonly Victim[]): number {
    const remove = this.#database.prepare("DELETE FROM entries WHERE sequence = ?");
    const perTarget = new Map<number, { count: number; last: number; saidAt: number }>();
    for (const { sequence, target, saidAt } of victims) {
      remove.run(sequence);
      const before = perTarget.get(target) ?? { count: 0, last: sequence, saidAt: 0 };
      perTarget.set(target, {
        count: before.count + 1,
        last: Math.max(before.last, sequence),
        saidAt: Math.max(before.saidAt, saidAt),
      });
    }
    for (const [target, { count, last, saidAt }] of perTarget) {
      this.#count.run(count, saidAt, target);
      // They are the oldest ones of their log.
      this.#index.drop(target, 0, last);
    }
    return victims.length;
  }
}

function victim(row: Record<string, unknown>): Victim {
  return {
    sequence: Number(row["sequence"]),
    target: Number(row["target"]),
    saidAt: Number(row["said_at"]),
  };
}
