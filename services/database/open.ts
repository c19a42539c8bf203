import { Database } from "./database.ts";
import { type SqliteOptions, SqliteStore } from "./sqlite_store.ts";

/**
 * Opens the app database in a SQLite file, and migrates it to the current schema.
 *
 * @throws DatabaseError if the file is not a database or belongs to a newer version
 */
export function openSqlite(path: string, options: SqliteOptions = {}): Database {
  return new Database(new SqliteStore(path, options));
}
