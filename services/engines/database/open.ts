import { Database } from "./database.ts";
import type { LogReport } from "./verification.ts";
import type { PostgresOptions } from "./postgres/mod.ts";
import type { PostgresContent } from "./postgres/reading.ts";
import type { PostgresSettings } from "./postgres/settings.ts";
import type { TransferOptions, TransferReport } from "./transfer/mod.ts";
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

/**
 * Verifies the event log in PostgreSQL.
 *
 * @param key the key of the seals, or null if it is lost
 * @throws DatabaseError if the database cannot be read or has no event log
 */
export async function verifyPostgresLog(
  settings: PostgresSettings,
  key: string | null,
): Promise<LogReport> {
  const verification = await import("./postgres/verification.ts");
  return await verification.verifyPostgresLog(settings, key);
}

/**
 * Reads from PostgreSQL, also while a server uses the database.
 *
 * @throws DatabaseError if the database cannot be reached
 */
export async function readPostgres<Result>(
  settings: PostgresSettings,
  read: (found: PostgresContent) => Promise<Result>,
): Promise<Result> {
  const reading = await import("./postgres/reading.ts");
  return await reading.readPostgres(settings, read);
}

/**
 * Copies a SQLite file to a database of PostgreSQL, in one transaction, and compares each row. Both
 * are migrated to the current schema first.
 *
 * @throws DatabaseError if one cannot be used, or the database has rows already
 */
export async function copyToPostgres(options: TransferOptions): Promise<TransferReport> {
  const transfer = await import("./transfer/mod.ts");
  return await transfer.copyToPostgres(options);
}

/**
 * Copies a database of PostgreSQL to a SQLite file, as {@linkcode copyToPostgres} does the other way.
 *
 * @throws DatabaseError if one cannot be used, or the file has rows already
 */
export async function copyToSqlite(options: TransferOptions): Promise<TransferReport> {
  const transfer = await import("./transfer/mod.ts");
  return await transfer.copyToSqlite(options);
}
