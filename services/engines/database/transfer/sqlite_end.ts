import type { DatabaseSync } from "node:sqlite";
import { rollBack } from "../sqlite/mod.ts";
import { storable } from "../postgres/connection.ts";
import type { SqlValue } from "../protocol.ts";
import { type End, keyOf, orderedAfter, type Row, type Value } from "./end.ts";
import { type Column, keyColumns, quoted, type Table } from "./table.ts";

/** A SQLite file. */
export class SqliteEnd implements End {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  begin(): Promise<void> {
    return this.#execute("BEGIN");
  }

  commit(): Promise<void> {
    return this.#execute("COMMIT");
  }

  rollBack(): Promise<void> {
    rollBack(this.#database);
    return Promise.resolve();
  }

  count({ name }: Table): Promise<number> {
    const row = this.#database.prepare(`SELECT count(*) AS count FROM ${quoted(name)}`).get();
    return Promise.resolve(Number(row?.["count"]));
  }

  clear({ name }: Table): Promise<void> {
    return this.#execute(`DELETE FROM ${quoted(name)}`);
  }

  insert({ name, columns }: Table, rows: readonly Row[]): Promise<void> {
    const taken = columns.filter(({ isComputed }) => !isComputed);
    const names = taken.map((column) => quoted(column.name)).join();
    const statement = this.#database.prepare(
      `INSERT INTO ${quoted(name)} (${names}) VALUES (${taken.map(() => "?").join()})`,
    );
    for (const row of rows) {
      const values = columns.flatMap((column, index) =>
        column.isComputed ? [] : [parameterOf(column, row[index] ?? null)]
      );
      statement.run(...values);
    }
    return Promise.resolve();
  }

  /** SQLite gives a new row the number after the highest one. */
  settle(): Promise<void> {
    return Promise.resolve();
  }

  read(table: Table, after: Row | null): Promise<readonly Row[]> {
    const { name, columns } = table;
    // Not one by one: `iterate` hides an error that comes after the first row.
    const rows = this.#database.prepare(
      `SELECT ${columns.map(readable).join()} FROM ${quoted(name)}
       ${orderedAfter(table, after, () => "?")}`,
    ).all(...(after === null ? [] : keyParameters(table, after)));
    return Promise.resolve(
      rows.map((row) => columns.map((column) => valueOf(column, row[column.name]))),
    );
  }

  #execute(sql: string): Promise<void> {
    this.#database.exec(sql);
    return Promise.resolve();
  }
}

/** Numbers are read as texts, texts as bytes, so that nothing is converted or cut off. */
function readable({ name, kind }: Column): string {
  const column = quoted(name);
  if (kind === "integer") return `CAST(${column} AS TEXT) AS ${column}`;
  return kind === "text" ? `CAST(${column} AS BLOB) AS ${column}` : column;
}

function valueOf({ kind }: Column, value: SqlValue | undefined): Value {
  if (kind === "real") return value === null ? null : Number(value);
  if (value instanceof Uint8Array) {
    return String(storable(new TextDecoder("utf-8", { ignoreBOM: true }).decode(value)));
  }
  return typeof value === "string" ? value : null;
}

function parameterOf({ kind }: Column, value: Value): SqlValue {
  return kind === "integer" && value !== null ? BigInt(String(value)) : value;
}

function keyParameters(table: Table, row: Row): SqlValue[] {
  const values = keyOf(table, row);
  return keyColumns(table).map((column, index) => parameterOf(column, values[index] ?? null));
}
