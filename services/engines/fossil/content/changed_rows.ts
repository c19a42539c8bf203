/** What a write changed in a copy of a file, row by row, and how the file itself is changed likewise. */
import type { Database, SqlValue } from "./database.ts";

/** A table whose changed rows are noted. */
export interface NotedTable {
  readonly name: string;
  /** Columns that tell its rows apart, or groups of rows that change together. */
  readonly key: readonly string[];
  /** A column with numbers of a table, whose new ones tell new rows; an index begins with it. */
  readonly numbers?: { readonly column: string; readonly of: string };
  /** Whether several rows may have one key. */
  readonly hasGroups?: boolean;
  /** Whether rows are large: few of them are in memory at a time. */
  readonly isLarge?: boolean;
}

/** The first number of a new row, by the name of the table that gives it. */
export type FirstNumbers = Readonly<Record<string, number>>;

/** Rows, or groups, that are read at a time, and rows that one statement inserts. */
const [BATCH, BATCH_LARGE, TOGETHER] = [1000, 4, 50];

const CHANGED = "fx_changed_";

/** Another program, or another connection, has changed what the copy builds on. */
export class Outdated extends Error {}

/** Notes in the file, from now on, the keys of all rows that this connection changes, but for new ones. */
export function noteChanges(
  db: Database,
  tables: readonly NotedTable[],
  first: FirstNumbers,
): void {
  for (const { name, key, numbers } of tables) {
    const isOld = (row: "NEW" | "OLD") =>
      numbers === undefined ? "" : `WHEN ${row}.${numbers.column}<${first[numbers.of]}`;
    // No conflict clause: that of the statement would count in its place. Without the plus, the type of
    // the column would keep SQLite from the index.
    const note = (event: string, row: "NEW" | "OLD") =>
      `CREATE TEMP TRIGGER ${CHANGED}${name}_${event} AFTER ${event} ON main.${name} ${isOld(row)}
        BEGIN INSERT INTO ${CHANGED}${name}(${key})
          SELECT ${key.map((column) => `${row}.${column}`)}
          WHERE NOT EXISTS(SELECT 1 FROM ${CHANGED}${name}
            WHERE ${key.map((column) => `${column}=+${row}.${column}`).join(" AND ")}); END;`;
    db.exec(
      `CREATE TABLE ${CHANGED}${name}(noted INTEGER PRIMARY KEY, ${key}, UNIQUE(${key}));` +
        note("INSERT", "NEW") + note("UPDATE", "OLD") + note("DELETE", "OLD"),
    );
  }
}

/**
 * Changes the rows of a file as those of its copy were changed. Needs a transaction of the file.
 *
 * @throws Outdated if a new row stands in the way of one
 */
export function applyChanges(
  copy: Database,
  db: Database,
  { tables, first }: { readonly tables: readonly NotedTable[]; readonly first: FirstNumbers },
): void {
  try {
    for (const table of tables) {
      if (copy.columns(table.name).join() !== db.columns(table.name).join()) {
        throw new Outdated(`The table ${table.name} is another`);
      }
      const changed = new ChangedTable({ copy, db, table });
      changed.applyNoted();
      if (table.numbers !== undefined) changed.addNew(first[table.numbers.of]!);
    }
  } catch (error) {
    const isInTheWay = error instanceof Error && /constraint/i.test(error.message);
    throw isInTheWay ? new Outdated(error.message) : error;
  }
}

type Row = Readonly<Record<string, SqlValue>>;

interface ChangedTableParts {
  readonly copy: Database;
  readonly db: Database;
  readonly table: NotedTable;
}

class ChangedTable {
  readonly #parts: ChangedTableParts;
  readonly #columns: readonly string[];

  constructor(parts: ChangedTableParts) {
    this.#parts = parts;
    this.#columns = parts.copy.columns(parts.table.name);
  }

  /** Changes and removes what was noted. */
  applyNoted(): void {
    const { copy, db, table: { name, key, numbers, hasGroups = false } } = this.#parts;
    const end = 1 + (copy.value<number>(`SELECT max(noted) FROM ${CHANGED}${name}`) ?? 0);
    const isSame = key.map((column) => `now.${column}=changed.${column}`).join(" AND ");
    const isKey = key.map((column) => `${column}=?`).join(" AND ");
    const keyOf = (row: Row) => key.map((column) => row[column] ?? null);
    const gone = `SELECT changed.* FROM ${CHANGED}${name} AS changed WHERE noted>=? AND noted<?` +
      (hasGroups ? "" : ` AND NOT EXISTS(SELECT 1 FROM ${name} AS now WHERE ${isSame})`);
    for (const rows of this.#batches(gone, 1, end)) {
      for (const row of rows) db.run(`DELETE FROM ${name} WHERE ${isKey}`, ...keyOf(row));
    }
    const changed = `SELECT now.* FROM ${CHANGED}${name} AS changed CROSS JOIN ${name} AS now
      ON ${isSame} WHERE noted>=? AND noted<? ORDER BY noted`;
    const update = `UPDATE ${name} SET ${this.#columns.map((column) => `${column}=?`)}
      WHERE ${isKey}`;
    for (const rows of this.#batches(changed, 1, end)) {
      // A row must not take the place of one with another number.
      if (name === numbers?.of) {
        for (const row of rows) db.run(update, ...this.#valuesOf(row), ...keyOf(row));
      } else this.#insert(rows, hasGroups ? "INSERT" : "INSERT OR REPLACE");
    }
  }

  /** Adds the rows that have a new number. */
  addNew(first: number): void {
    const { copy, table: { name, numbers } } = this.#parts;
    const column = numbers!.column;
    const end = 1 + (copy.value<number>(`SELECT max(${column}) FROM ${name}`) ?? 0);
    const select = `SELECT * FROM ${name} WHERE ${column}>=? AND ${column}<? ORDER BY ${column}`;
    for (const rows of this.#batches(select, first, end)) this.#insert(rows, "INSERT");
  }

  #insert(rows: readonly Row[], verb: string): void {
    const { db, table: { name, isLarge = false } } = this.#parts;
    const values = `(${this.#columns.map(() => "?")})`;
    const insert = `${verb} INTO ${name}(${this.#columns}) VALUES${values}`;
    let at = 0;
    for (; !isLarge && at + TOGETHER <= rows.length; at += TOGETHER) {
      const many = rows.slice(at, at + TOGETHER).flatMap((row) => this.#valuesOf(row));
      db.run(insert + `,${values}`.repeat(TOGETHER - 1), ...many);
    }
    for (const row of rows.slice(at)) db.run(insert, ...this.#valuesOf(row));
  }

  #valuesOf(row: Row): SqlValue[] {
    return this.#columns.map((column) => row[column] ?? null);
  }

  /** What a query finds between two numbers. */
  *#batches(select: string, first: number, end: number): Generator<Row[]> {
    const { copy, table: { isLarge = false } } = this.#parts;
    const count = isLarge ? BATCH_LARGE : BATCH;
    for (let at = first; at < end; at += count) {
      yield copy.rows<Row>(select, at, Math.min(at + count, end));
    }
  }
}
