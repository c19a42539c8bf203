import { Database } from "./database.ts";
import type { PostgresOptions } from "./postgres/mod.ts";
import { type SqliteOptions, SqliteStore } from "./sqlite_store.ts";

/**
 * Opens the app database in a SQLite file, and migrates it to the current schema.
 *
 * @throws DatabaseError if the file is not a database or belongs to a newer version
 */
export function openSqlite(path: string, options: SqliteOptions = {}): Database {
  return new Database(new SqliteStore(path, options));
}

/**
 * Opens the app database in PostgreSQL, and migrates it to the current schema. Only this loads the
 * library for it.
 *
 * @throws DatabaseError if the database cannot be used
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { PostgresStore } = await import("./postgres/mod.ts");
  return new Database(await PostgresStore.open(options));
}
