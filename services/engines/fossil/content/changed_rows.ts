/** What a write changed in a copy of a file, row by row, and how the file itself is changed likewise. */
import type { Database, SqlValue } from "./database.ts";

/** A table whose changed rows are noted. */
export interface NotedTable {
  readonly name: string;
  /** Columns that tell its rows apart, or groups of rows that change together. */
  readonly key: readonly string[];
  /** Whether its new rows get the next numbers, which the first column of the key has. */
  readonly isNumbered?: boolean;
  /** Whether several rows may have one key. */
  readonly hasGroups?: boolean;
  /** Whether rows are large: few of them are read at a time. */
  readonly isLarge?: boolean;
}

/** Rows read at a time. */
const [BATCH, BATCH_LARGE] = [2000, 20];

const CHANGED = "fx_changed_";

/** Another program, or another connection, has changed what the copy builds on. */
export class Outdated extends Error {}

/** Notes in the file, from now on, the keys of all rows that this connection changes. */
export function noteChanges(db: Database, tables: readonly NotedTable[]): void {
  for (const { name, key } of tables) {
    // No conflict clause: that of the statement would count in its place.
    const note = (event: string, row: "NEW" | "OLD") =>
      `CREATE TEMP TRIGGER ${CHANGED}${name}_${event}_${row} AFTER ${event} ON main.${name}
        BEGIN INSERT INTO ${CHANGED}${name}(${key})
          SELECT ${key.map((column) => `${row}.${column}`)}
          WHERE NOT EXISTS(SELECT 1 FROM ${CHANGED}${name}
            WHERE ${key.map((column) => `${column}=${row}.${column}`).join(" AND ")}); END;`;
    db.exec(
      `CREATE TABLE ${CHANGED}${name}(noted INTEGER PRIMARY KEY, ${key}, UNIQUE(${key}));` +
        note("INSERT", "NEW") + note("UPDATE", "NEW") + note("UPDATE", "OLD") +
        note("DELETE", "OLD"),
    );
  }
}

/**
 * Changes the rows of a file as those of its copy were changed. Needs a transaction of the file.
 *
 * @param first the first number that a new row of the copy has got, for each numbered table
 * @throws Outdated if a new row stands in the way of one
 */
export function applyChanges(
  copy: Database,
  db: Database,
  { tables, first }: {
    readonly tables: readonly NotedTable[];
    readonly first: Readonly<Record<string, number>>;
  },
): void {
  for (const table of tables) applyTable(copy, db, table, first[table.name] ?? Infinity);
}

function applyTable(copy: Database, db: Database, table: NotedTable, first: number): void {
  const { name, key, isLarge = false, hasGroups = false } = table;
  const columns = copy.columns(name);
  if (columns.join() !== db.columns(name).join()) {
    throw new Outdated(`The table ${name} is another`);
  }
  const isKey = key.map((column) => `${column}=?`).join(" AND ");
  const remove = `DELETE FROM ${name} WHERE ${isKey}`;
  const values = columns.map(() => "?");
  const insert = `INSERT INTO ${name}(${columns}) VALUES(${values})`;
  const replace = table.isNumbered === true
    ? `UPDATE ${name} SET ${columns.map((column) => `${column}=?`)} WHERE ${isKey}`
    : hasGroups
    ? insert
    : `INSERT OR REPLACE INTO ${name}(${columns}) VALUES(${values})`;
  const ofKey = (row: Row) => key.map((column) => row[column] ?? null);
  const gone = `SELECT changed.* FROM ${CHANGED}${name} AS changed WHERE changed.noted>?
    ${hasGroups ? "" : `AND NOT EXISTS(SELECT 1 FROM ${name} AS now WHERE ${isSame(key)})`}
    ORDER BY changed.noted LIMIT ${BATCH}`;
  for (const row of batches(copy, gone, BATCH)) db.run(remove, ...ofKey(row));
  const batch = isLarge ? BATCH_LARGE : BATCH;
  const changed = hasGroups
    ? `SELECT now.rowid AS noted, now.* FROM ${name} AS now WHERE now.rowid>? AND EXISTS(
        SELECT 1 FROM ${CHANGED}${name} AS changed WHERE ${isSame(key)})
        ORDER BY now.rowid LIMIT ${batch}`
    : `SELECT changed.noted, now.* FROM ${CHANGED}${name} AS changed JOIN ${name} AS now
        ON ${isSame(key)} WHERE changed.noted>? ORDER BY changed.noted LIMIT ${batch}`;
  try {
    for (const row of batches(copy, changed, batch)) {
      const all = columns.map((column) => row[column] ?? null);
      const isNew = Number(row[key[0]!]) >= first;
      if (isNew || table.isNumbered !== true) db.run(isNew ? insert : replace, ...all);
      else db.run(replace, ...all, ...ofKey(row));
    }
  } catch (error) {
    if (error instanceof Error && /constraint/i.test(error.message)) {
      throw new Outdated(error.message);
    }
    throw error;
  }
}

type Row = Readonly<Record<string, SqlValue>>;

function isSame(key: readonly string[]): string {
  return key.map((column) => `now.${column}=changed.${column}`).join(" AND ");
}

/** Rows in the order in which they were noted. */
function* batches(db: Database, select: string, batch: number): Generator<Row> {
  for (let last: SqlValue = 0;;) {
    const rows: Row[] = db.rows<Row>(select, last);
    yield* rows;
    if (rows.length < batch) return;
    last = rows.at(-1)!["noted"] ?? null;
  }
}
