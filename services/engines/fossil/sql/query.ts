/** Runs one statement of a stranger on a repository file, read-only and within limits. */
import { DatabaseSync } from "node:sqlite";
import { Guard } from "./authorizer.ts";
import { ProgramJudge } from "./program.ts";
import { parseStatement, requireSingle, type Statement } from "./statement.ts";
import { type QueryAnswer, type QueryLimits, type QueryRequest, Refusal } from "./types.ts";
import { collectRows, type Row } from "./rows.ts";

/** How long to wait for a writer that switches its journal, in milliseconds. */
const BUSY_TIMEOUT = 1000;

/** The column that is 1 in the row after all others. */
const LAST = "muster_last";

/** Codes of SQLite for a statement that needs too much memory. */
const NO_MEMORY = 7;
const TOO_BIG = 18;

/** Runs a statement. Blocks as long as it runs; never throws. */
export function runQuery({ path, sql, limits }: QueryRequest): QueryAnswer {
  try {
    const statement = parseStatement(sql);
    const database = open(path, limits);
    try {
      return new Query(database, limits).run(statement);
    } finally {
      database.close();
    }
  } catch (error) {
    return refusalOf(error, limits);
  }
}

/** Opens a file so that this process can neither write nor checkpoint it. */
function open(path: string, { memory }: QueryLimits): DatabaseSync {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    database.exec(`
      PRAGMA hard_heap_limit=${memory};
      PRAGMA trusted_schema=OFF;
      PRAGMA cell_size_check=ON;
      PRAGMA temp_store=MEMORY;
      PRAGMA busy_timeout=${BUSY_TIMEOUT};
      BEGIN;
      SELECT count(*) FROM sqlite_schema;
    `);
    return database;
  } catch (error) {
    throw new Refusal("unavailable", `The repository cannot be read now: ${textOf(error)}`);
  }
}

/** One statement on an open file, in a transaction, so that what is judged is what runs. */
class Query {
  readonly #database: DatabaseSync;
  readonly #limits: QueryLimits;
  readonly #judge: ProgramJudge;
  readonly #guard: Guard;

  constructor(database: DatabaseSync, limits: QueryLimits) {
    this.#database = database;
    this.#limits = limits;
    this.#judge = new ProgramJudge(database);
    this.#guard = new Guard(database);
  }

  run({ kind, text, query }: Statement): QueryAnswer {
    const first = this.#firstOf(text);
    const judged = query === null ? null : this.#checked(query, () => this.#judge.judge(query));
    if (kind === "query" && judged !== null) return this.#runQuery(first, judged.columns);
    return this.#checked(text, () => {
      const rows = this.#database.prepare(first);
      rows.setReadBigInts(true);
      return collectRows(rows.all() as Row[], null, this.#limits);
    });
  }

  /** The first statement of a text, which must be the only one. */
  #firstOf(text: string): string {
    const first = this.#checked(text, () => this.#database.prepare(text).sourceSQL);
    requireSingle(text, first);
    return first.replace(/;\s*$/, "");
  }

  /**
   * Reads the rows of a query. The runtime gives rows as objects, which lose columns of equal names,
   * so each column is renamed; a temporary view knows the names. The runtime also hides an error
   * that comes after the first row, so a last row shows that none came.
   */
  #runQuery(query: string, width: number): QueryAnswer {
    const columns = this.#namesOf(query);
    const aliases = Array.from({ length: width }, (_, index) => `c${index}`);
    const renamed = `WITH muster_rows(${aliases.join()}) AS (${query}\n)
      SELECT 0 AS ${LAST}, * FROM muster_rows
      UNION ALL SELECT 1, ${aliases.map(() => "NULL").join()}`;
    return this.#checked(renamed, () => {
      this.#judge.judge(renamed);
      const rows = this.#database.prepare(renamed);
      rows.setReadBigInts(true);
      const end = { reached: false };
      const result = collectRows(untilLast(rows.iterate(), end), columns, this.#limits);
      // Fails in the same place, and says why.
      if (result.cut === null && !end.reached) rows.all();
      return result;
    });
  }

  #namesOf(query: string): string[] {
    this.#database.exec(`CREATE TEMP VIEW muster_names AS ${query}\n`);
    const names = this.#database.prepare("SELECT name FROM pragma_table_info('muster_names')")
      .all();
    this.#database.exec("PRAGMA query_only=ON");
    return names.map(({ name }) => String(name));
  }

  /** Runs a task under the guard; its failures get SQLite's words. */
  #checked<Result>(sql: string, task: () => Result): Result {
    try {
      return this.#guard.during(task);
    } catch (error) {
      throw this.#guard.refusal ?? this.#described(error, sql);
    }
  }

  /** Deno 2.4 hides SQLite's message about a statement that it cannot prepare; `exec` shows it. */
  #described(error: unknown, sql: string): unknown {
    if (!(error instanceof Error) || !/failed to prepare/i.test(error.message)) return error;
    try {
      this.#database.exec(/^\W*explain/i.test(sql) ? sql : `EXPLAIN ${sql}`);
      return error;
    } catch (described) {
      return new Error(textOf(described).split(/ in EXPLAIN /i, 1)[0]);
    }
  }
}

/** The rows before the last one. */
function* untilLast(rows: Iterable<unknown>, end: { reached: boolean }): Generator<Row> {
  for (const row of rows as Iterable<Row>) {
    const { [LAST]: last, ...values } = row;
    end.reached = last === 1n;
    if (end.reached) return;
    yield values;
  }
}

function refusalOf(error: unknown, { memory }: QueryLimits): QueryAnswer {
  if (error instanceof Refusal) return { kind: error.kind, message: error.message };
  const code = error instanceof Error && "errcode" in error ? error.errcode : null;
  const text = textOf(error);
  if (code === NO_MEMORY || code === TOO_BIG || /out of memory|too big/.test(text)) {
    const limit = `${memory / 2 ** 20} MiB`;
    const message =
      `The statement needs more than ${limit} of memory: read fewer or shorter values`;
    return { kind: "memory", message };
  }
  return { kind: "invalid", message: `SQLite refuses the statement: ${text}` };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
