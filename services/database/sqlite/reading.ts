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
 * @throws Error if there is no file, or if it is no database
 */
export function readDatabase<Result>(
  path: string,
  read: (database: DatabaseSync) => Result,
): Result {
  const database = openToRead(path);
  try {
    return read(database);
  } finally {
    database.close();
  }
}

/**
 * What an error of SQLite says of a file.
 *
 * Deno 2.4 names no reason where it can prepare no statement: the file's first page is at fault.
 */
export function reasonOfSqlite(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return reason === "failed to prepare statement"
    ? "it is no database, or its first page is damaged"
    : reason;
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
