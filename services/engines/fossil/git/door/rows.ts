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

/** The names of all objects of a companion or a draft, in their order. */
export function* namesIn(db: Database): Generator<Uint8Array> {
  const select = "SELECT name FROM object WHERE name>? ORDER BY name LIMIT 1000";
  for (let last: Uint8Array | undefined = new Uint8Array(0); last !== undefined;) {
    const names: Uint8Array[] = db.rows<{ name: Uint8Array }>(select, last).map(({ name }) => name);
    yield* names;
    last = names.at(-1);
  }
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
