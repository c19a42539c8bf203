import { DatabaseSync, type StatementSync } from "node:sqlite";

/** What can be bound to a parameter. Numbers are bound as REAL: bind text for a text column. */
export type SqlValue = null | number | bigint | string | Uint8Array;

/** Prepared statements to keep; the bound matters because some texts are dynamic. */
const MAX_STATEMENTS = 300;
/** How long to wait for another program's lock, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;
/** Pages kept by SQLite, in KiB. */
const PAGE_CACHE_KIB = 32_000;
/** As above, for a draft, which the system keeps in memory too. */
const DRAFT_CACHE_KIB = 4_000;

/** Options of `Database`. */
export interface DatabaseOptions {
  readonly readOnly?: boolean;
  /** How long to wait for another program's lock, in milliseconds. */
  readonly busyTimeoutMs?: number;
}

/** Statements that change columns. */
const CHANGES_COLUMNS = /\b(?:create|drop|alter)\b/i;

/** A column of a table, with its declared type. */
export interface Column {
  readonly name: string;
  readonly type: string;
}

/** One connection to a repository file. Caches prepared statements, and columns of tables. */
export class Database implements Disposable {
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #columns = new Map<string, readonly Column[]>();
  #schemaVersion = -1;

  /** Opens or creates a file with the settings every repository gets. */
  constructor(path: string, options: DatabaseOptions = {}) {
    const { readOnly = false, busyTimeoutMs = BUSY_TIMEOUT_MS } = options;
    this.#connection = new DatabaseSync(path, { readOnly });
    try {
      this.#connection.exec(`
        PRAGMA trusted_schema=OFF;
        PRAGMA busy_timeout=${busyTimeoutMs};
        PRAGMA foreign_keys=OFF;
        PRAGMA cache_size=-${PAGE_CACHE_KIB};
      `);
    } catch (error) {
      this.#connection.close();
      throw error;
    }
  }

  /** Makes commits durable, and lets readers read while another connection writes. */
  useWriteAheadLog(): void {
    this.#connection.exec("PRAGMA journal_mode=WAL");
    this.makeDurable();
  }

  /** Makes commits durable, and keeps the file's journal mode. */
  makeDurable(): void {
    this.#connection.exec("PRAGMA synchronous=FULL");
  }

  /** Refuses every further change of the file. */
  refuseWrites(): void {
    this.#connection.exec("PRAGMA query_only=ON");
  }

  /** Ends the use of a log and moves its content into the file. */
  useRollbackJournal(): void {
    this.#connection.exec("PRAGMA journal_mode=DELETE");
  }

  /**
   * Makes writes quick but not durable, and keeps few pages in memory: for a file that is deleted
   * if its writer fails. What a transaction changes, but not what it adds, is kept in memory until
   * its end.
   */
  useNoLog(): void {
    this.#connection.exec(`
      PRAGMA journal_mode=MEMORY;
      PRAGMA synchronous=OFF;
      PRAGMA cache_size=-${DRAFT_CACHE_KIB};
    `);
  }

  /** Locks the file against everybody else until it is closed. */
  lock(): void {
    this.#connection.exec("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;");
  }

  /** Makes durable all writes that were made without a log. */
  sync(): void {
    const version = this.value<number>("PRAGMA user_version") ?? 0;
    this.#connection.exec(`PRAGMA synchronous=FULL; PRAGMA user_version=${version + 1};`);
    this.#connection.exec(`PRAGMA user_version=${version};`);
  }

  /** Moves the write-ahead log into the file itself, as far as readers allow. */
  checkpoint(): void {
    this.#connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  /**
   * Like `checkpoint`, without waiting for anybody; the log keeps its size. Returns whether readers
   * let everything be moved.
   */
  settle(): boolean {
    const result = this.row<{ log: number; checkpointed: number }>(
      "PRAGMA wal_checkpoint(PASSIVE)",
    );
    return result === undefined || result.log === result.checkpointed;
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
    const statement = this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Undoes the transaction, if SQLite has not done so itself. */
  rollBack(): void {
    this.#columns.clear();
    rollBack(this.#connection);
  }

  /** Runs statements without parameters. */
  exec(sql: string): void {
    if (CHANGES_COLUMNS.test(sql)) this.#columns.clear();
    this.#connection.exec(sql);
  }

  /** Drops the prepared statements; needed before tables are dropped. */
  forgetStatements(): void {
    this.#statements.clear();
  }

  /**
   * Drops what is cached if another connection has changed the schema. The runtime counts
   * the columns of a statement before SQLite prepares it again, so the first rows of a kept
   * `SELECT *` would lack a new column, or hold values under the wrong names.
   */
  noticeSchema(): void {
    const version = this.value<number>("PRAGMA schema_version") ?? 0;
    if (version !== this.#schemaVersion) {
      this.#statements.clear();
      this.#columns.clear();
    }
    this.#schemaVersion = version;
  }

  /** Runs one statement; returns the number of changed rows. */
  run(sql: string, ...values: readonly SqlValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  /** Runs one INSERT; returns the new row's id. */
  insert(sql: string, ...values: readonly SqlValue[]): number {
    return Number(this.#statement(sql).run(...values).lastInsertRowid);
  }

  /** First row, or undefined. The caller states the columns' types. */
  row<T>(sql: string, ...values: readonly SqlValue[]): T | undefined {
    return this.#statement(sql).get(...values) as T | undefined;
  }

  /** All rows. */
  rows<T>(sql: string, ...values: readonly SqlValue[]): T[] {
    return this.#statement(sql).all(...values) as T[];
  }

  /** First column of the first row, or undefined. */
  value<T>(sql: string, ...values: readonly SqlValue[]): T | undefined {
    const row = this.#statement(sql).get(...values);
    return row === undefined ? undefined : Object.values(row)[0] as T;
  }

  /** Whether a query gives a row. */
  exists(sql: string, ...values: readonly SqlValue[]): boolean {
    return this.#statement(sql).get(...values) !== undefined;
  }

  hasTable(name: string): boolean {
    return this.exists("SELECT 1 FROM sqlite_schema WHERE type='table' AND name=?", name);
  }

  /** Names of a table's columns, in order; none if the table does not exist. */
  columns(table: string): string[] {
    return this.typedColumns(table).map(({ name }) => name);
  }

  /** Columns of a table with their types, in order; none if the table does not exist. */
  typedColumns(table: string): readonly Column[] {
    const known = this.#columns.get(table);
    if (known !== undefined) return known;
    const columns = this.rows<Column>("SELECT name, type FROM pragma_table_info(?)", table);
    if (this.#columns.size >= MAX_STATEMENTS) this.#columns.clear();
    this.#columns.set(table, columns);
    return columns;
  }

  /** A number that changes when another connection has written. */
  dataVersion(): number {
    return this.value<number>("PRAGMA data_version") ?? 0;
  }

  close(): void {
    this.#statements.clear();
    this.#connection.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/**
 * Undoes the transaction of a connection, if one is open. After a full disk, a read error or a lack
 * of memory, SQLite has often rolled it back already, and then refuses `ROLLBACK`.
 *
 * @param connection the connection. Older runtimes (Deno 2.4) do not report whether a transaction
 * is open; there, `BEGIN` finds out.
 * @see {@link https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction}
 */
function rollBack(connection: TransactionalDatabase): void {
  if (connection.isTransaction === undefined) ensureTransaction(connection);
  else if (!connection.isTransaction) return;
  connection.exec("ROLLBACK");
}

/** A connection of `node:sqlite`, new or old. */
type TransactionalDatabase = Pick<DatabaseSync, "exec"> & { readonly isTransaction?: boolean };

/** A deferred transaction takes no lock and reads nothing, so only an open one can refuse it. */
function ensureTransaction(connection: TransactionalDatabase): void {
  try {
    connection.exec("BEGIN");
  } catch {
    // A transaction is open.
  }
}
