import type { WritingSession } from "../postgres/session.ts";
import { type End, keyOf, orderedAfter, type Row, type Value } from "./end.ts";
import { type Column, quoted, type Table } from "./table.ts";

/** Most parameters of one statement; the protocol has room for 65,535. */
const MAX_PARAMETERS = 20_000;

/** A database of PostgreSQL, through the connection that keeps other programs away from it. */
export class PostgresEnd implements End {
  readonly #session: WritingSession;

  constructor(session: WritingSession) {
    this.#session = session;
  }

  begin(): Promise<void> {
    return this.#session.execute("BEGIN");
  }

  commit(): Promise<void> {
    return this.#session.execute("COMMIT");
  }

  rollBack(): Promise<void> {
    return this.#session.execute("ROLLBACK");
  }

  async count({ name }: Table): Promise<number> {
    const [found] = await this.#session.run([[`SELECT count(*) AS count FROM ${quoted(name)}`]]);
    return Number(found?.rows[0]?.["count"]);
  }

  async clear({ name }: Table): Promise<void> {
    await this.#session.run([[`DELETE FROM ${quoted(name)}`]]);
  }

  async insert({ name, columns }: Table, rows: readonly Row[]): Promise<void> {
    const names = columns.map((column) => quoted(column.name)).join();
    const size = Math.floor(MAX_PARAMETERS / columns.length);
    for (let start = 0; start < rows.length; start += size) {
      const some = rows.slice(start, start + size);
      const places = some.map((_, row) =>
        `(${columns.map((_, column) => `$${row * columns.length + column + 1}`).join()})`
      );
      const sql = `INSERT INTO ${quoted(name)} (${names}) VALUES ${places.join()}`;
      await this.#session.run([[sql, some.flat()]]);
    }
  }

  async settle({ name }: Table): Promise<void> {
    const [found] = await this.#session.run([[
      `SELECT column_name AS name FROM information_schema.columns
       WHERE table_schema = current_schema() AND table_name = $1 AND is_identity = 'YES'`,
      [name],
    ]]);
    for (const row of found?.rows ?? []) {
      const column = String(row["name"]);
      const highest = `(SELECT max(${quoted(column)}) FROM ${quoted(name)})`;
      await this.#session.run([[
        `SELECT setval(pg_get_serial_sequence($1, $2), coalesce(${highest}, 1),
           ${highest} IS NOT NULL)`,
        [quoted(name), column],
      ]]);
    }
  }

  async read(table: Table, after: Row | null): Promise<readonly Row[]> {
    const { name, columns } = table;
    const [found] = await this.#session.run([[
      `SELECT ${columns.map(readable).join()} FROM ${quoted(name)}
       ${orderedAfter(table, after, (parameter) => `$${parameter}`)}`,
      after === null ? [] : keyOf(table, after),
    ]]);
    return (found?.rows ?? []).map((row) => columns.map((column) => valueOf(row[column.name])));
  }
}

/** A whole number is read as a text, which is exact. */
function readable({ name, kind }: Column): string {
  return kind === "integer" ? `${quoted(name)}::text AS ${quoted(name)}` : quoted(name);
}

function valueOf(value: unknown): Value {
  if (value === null || typeof value === "string" || typeof value === "number") return value;
  throw new TypeError(`A value of the type ${typeof value} cannot be copied`);
}
