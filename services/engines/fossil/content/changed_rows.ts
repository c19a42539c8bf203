/** What a write changed in a copy of a file, row by row, and how the file itself is changed likewise. */
import type { Database, SqlValue } from "./database.ts";

/** A table whose changed rows are noted. */
export interface NotedTable {
  readonly name: string;
  /** Columns that tell its rows apart, or groups of rows that change together. */
  readonly key: readonly string[];
  /** The table that gives the first column of the key its numbers, if the row begins with it. */
  readonly numbersOf?: string;
  /** Whether several rows may have one key. */
  readonly hasGroups?: boolean;
  /** Whether rows are large: few of them are in memory at a time. */
  readonly isLarge?: boolean;
}

/** Rows, or groups, that are read at a time, and rows that one statement inserts. */
const [BATCH, BATCH_LARGE, TOGETHER] = [1000, 4, 50];

const CHANGED = "fx_changed_";

/** Another program, or another connection, has changed what the copy builds on. */
export class Outdated extends Error {}

/** Notes in the file, from now on, the keys of all rows that this connection changes. */
export function noteChanges(db: Database, tables: readonly NotedTable[]): void {
  for (const { name, key } of tables) {
    // No conflict clause: that of the statement would count in its place. Without the plus, the type of
    // the column would keep SQLite from the index.
    const note = (event: string, row: "NEW" | "OLD") =>
      `CREATE TEMP TRIGGER ${CHANGED}${name}_${event}_${row} AFTER ${event} ON main.${name}
        BEGIN INSERT INTO ${CHANGED}${name}(${key})
          SELECT ${key.map((column) => `${row}.${column}`)}
          WHERE NOT EXISTS(SELECT 1 FROM ${CHANGED}${name}
            WHERE ${key.map((column) => `${column}=+${row}.${column}`).join(" AND ")}); END;`;
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
 * @param first the first number that a new row of the copy has got, for each table that numbers its own
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
  try {
    for (const table of tables) {
      if (copy.columns(table.name).join() !== db.columns(table.name).join()) {
        throw new Outdated(`The table ${table.name} is another`);
      }
      const from = first[table.numbersOf ?? ""] ?? Infinity;
      new ChangedTable({ copy, db, table, first: from }).apply();
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
  /** From here on, numbers are new. */
  readonly first: number;
}

class ChangedTable {
  readonly #parts: ChangedTableParts;
  readonly #columns: readonly string[];

  constructor(parts: ChangedTableParts) {
    this.#parts = parts;
    this.#columns = parts.copy.columns(parts.table.name);
  }

  apply(): void {
    const { name, key, hasGroups = false, isLarge = false } = this.#parts.table;
    const isSame = key.map((column) => `now.${column}=changed.${column}`).join(" AND ");
    const gone = `SELECT changed.* FROM ${CHANGED}${name} AS changed WHERE noted>? AND noted<=?` +
      (hasGroups ? "" : ` AND NOT EXISTS(SELECT 1 FROM ${name} AS now WHERE ${isSame})`);
    const remove = `DELETE FROM ${name} WHERE ${this.#isKey}`;
    for (const rows of this.#batches(gone, BATCH)) {
      for (const row of rows) {
        if (!this.#isNew(row)) this.#parts.db.run(remove, ...this.#keyOf(row));
      }
    }
    const changed = `SELECT now.* FROM ${CHANGED}${name} AS changed CROSS JOIN ${name} AS now
      ON ${isSame} WHERE noted>? AND noted<=? ORDER BY noted`;
    for (const rows of this.#batches(changed, isLarge ? BATCH_LARGE : BATCH)) this.#write(rows);
  }

  /** Writes rows as they are in the copy. */
  #write(rows: readonly Row[]): void {
    const { db, table } = this.#parts;
    const { name, numbersOf, hasGroups = false, isLarge = false } = table;
    const isOwn = name === numbersOf;
    const columns = this.#columns;
    const values = `(${columns.map(() => "?")})`;
    // A row must not take the place of another one with another number.
    const verb = isOwn || hasGroups ? "INSERT" : "INSERT OR REPLACE";
    const insert = `${verb} INTO ${name}(${columns}) VALUES${values}`;
    const update = `UPDATE ${name} SET ${columns.map((column) => `${column}=?`)}
      WHERE ${this.#isKey}`;
    const valuesOf = (row: Row) => columns.map((column) => row[column] ?? null);
    const inserted: Row[] = [];
    for (const row of rows) {
      if (!isOwn || this.#isNew(row)) inserted.push(row);
      else db.run(update, ...valuesOf(row), ...this.#keyOf(row));
    }
    let at = 0;
    for (; !isLarge && at + TOGETHER <= inserted.length; at += TOGETHER) {
      const many = inserted.slice(at, at + TOGETHER).flatMap(valuesOf);
      db.run(insert + `,${values}`.repeat(TOGETHER - 1), ...many);
    }
    for (const row of inserted.slice(at)) db.run(insert, ...valuesOf(row));
  }

  get #isKey(): string {
    return this.#parts.table.key.map((column) => `${column}=?`).join(" AND ");
  }

  #keyOf(row: Row): SqlValue[] {
    return this.#parts.table.key.map((column) => row[column] ?? null);
  }

  #isNew(row: Row): boolean {
    return Number(row[this.#parts.table.key[0]!]) >= this.#parts.first;
  }

  /** What a query finds for the noted keys between two places. */
  *#batches(select: string, count: number): Generator<Row[]> {
    const last = `SELECT max(noted) FROM ${CHANGED}${this.#parts.table.name}`;
    const end = this.#parts.copy.value<number>(last) ?? 0;
    for (let at = 0; at < end; at += count) {
      yield this.#parts.copy.rows<Row>(select, at, at + count);
    }
  }
}
