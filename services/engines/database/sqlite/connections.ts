import { DatabaseSync } from "node:sqlite";

/** How long a reader waits for another program's lock, in milliseconds. */
const BUSY_TIMEOUT = 5000;

/**
 * Opens a database that other programs may use, to read it. Where the file can be written, SQLite
 * leaves nothing beside it; opened as read-only, it would leave the files of its log.
 *
 * @throws Error if there is no file, or if it is no database
 */
export function openToRead(path: string): DatabaseSync {
  Deno.statSync(path);
  try {
    return probed(path, false);
  } catch {
    return probed(path, true);
  }
}

/**
 * Reads from a database that other programs may use, and closes it. Unlike `using`, this also works
 * where a `DatabaseSync` cannot be disposed of, as in Deno 2.4.
 *
 * @param leavesLog whether the write-ahead log of a program that was killed stays as it is
 * @throws Error if there is no file, or if it is no database
 */
export function readDatabase<Result>(
  path: string,
  read: (database: DatabaseSync) => Result,
  leavesLog = false,
): Result {
  const database = leavesLog ? probed(path, true) : openToRead(path);
  try {
    return read(database);
  } finally {
    database.close();
  }
}

/** The first bytes of every SQLite file. */
const MAGIC = "SQLite format 3\0";

/** Whether a file is a SQLite database. */
export function isDatabase(path: string): boolean {
  using file = Deno.openSync(path);
  const head = new Uint8Array(MAGIC.length);
  const read = file.readSync(head) ?? 0;
  return new TextDecoder().decode(head.subarray(0, read)) === MAGIC;
}

/** What SQLite says where it can open a file, but not use it; Deno 2.4 names no reason at all. */
const VAGUE =
  /^failed to prepare statement$|^unable to open database file|^file is not a database$/;

/** Why SQLite cannot use a file. Its own words may blame a file where the disk is at fault. */
export function reasonOfSqlite(error: unknown, path: string): string {
  const reason = error instanceof Error ? error.message : String(error);
  if (!VAGUE.test(reason)) return reason;
  try {
    Deno.openSync(path, { read: true, write: true }).close();
    return isDatabase(path)
      ? "it is damaged, or its folder cannot be written"
      : "it is no database";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function probed(path: string, readOnly: boolean): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly });
  try {
    database.exec(`
      PRAGMA busy_timeout = ${BUSY_TIMEOUT};
      PRAGMA trusted_schema = OFF;
      PRAGMA query_only = ON;
    `);
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A refusal that no bug of this program causes: SQLite's primary codes, and its words. */
interface Trouble {
  readonly codes: readonly number[];
  /** For runtimes that do not pass the code on (Deno 2.4). */
  readonly words: RegExp;
}

/** BUSY, LOCKED. */
const LOCKED: Trouble = { codes: [5, 6], words: /database(?: table)? is locked/i };

/** NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB. */
const OTHER_TROUBLE: Trouble = {
  codes: [7, 8, 10, 11, 13, 14, 26],
  words: /out of memory|readonly database|disk|malformed|unable to open|not a database/i,
};

/** Whether SQLite refuses because another program has locked the database for too long. */
export function isLocked(error: unknown): boolean {
  return isOf(LOCKED, error);
}

/**
 * Whether SQLite refuses because of something outside this program, such as a lock or the disk: what
 * is asked for may work later.
 *
 * @see {@link https://www.sqlite.org/rescode.html}
 */
export function isTrouble(error: unknown): boolean {
  return isLocked(error) || isOf(OTHER_TROUBLE, error);
}

function isOf({ codes, words }: Trouble, error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (!("errcode" in error) || typeof error.errcode !== "number") return words.test(error.message);
  return codes.includes(error.errcode & 0xff);
}

/**
 * Rolls back the transaction of a connection, if one is open. After a full disk, a read error or a
 * lack of memory, SQLite has often rolled it back already, and then refuses `ROLLBACK`.
 *
 * @param connection the connection. Older runtimes (Deno 2.4) do not report whether a transaction
 * is open; there, `BEGIN` ensures that one is.
 * @see {@link https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction}
 */
export function rollBack(connection: TransactionalDatabase): void {
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
