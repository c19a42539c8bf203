/** Reads many rows with few statements: one for each row would take most of the time of a pack. */
import type { Database } from "../../content/mod.ts";

/** Rows that are read at once. */
const ROWS = 128;

/** Rows by their keys, read in batches: `select` has `IN (?)` for the keys. */
export function* rowsOf<Row>(
  db: Database,
  select: string,
  keys: Iterable<number>,
): Generator<Row> {
  const sql = select.replace("IN (?)", "IN (SELECT value FROM json_each(?))");
  for (const batch of batches(keys)) yield* db.rows<Row>(sql, JSON.stringify(batch));
}

/** Keys in lists of at most {@link ROWS}. */
export function* batches(keys: Iterable<number>): Generator<number[]> {
  let batch: number[] = [];
  for (const key of keys) {
    if (batch.push(key) < ROWS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** The rows that have a mark. */
export function* marked(marks: Uint8Array): Generator<number> {
  for (let row = marks.indexOf(1); row >= 0; row = marks.indexOf(1, row + 1)) yield row;
}
