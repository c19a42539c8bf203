import { type Migration, sqliteSql } from "./migration.ts";
import { DatabaseSync } from "node:sqlite";
import { configureConnection } from "./writer.ts";
import { MIGRATIONS } from "./migrations.ts";
import { reasonOfSqlite } from "./sqlite/mod.ts";

/** The version of the schema that this program makes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** A database that this program cannot use; the message says why in one sentence. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError";
}

/**
 * Migrates the database at `path` to the current schema; creates it if it does not exist. Copies an
 * existing one to `<path>.v<version>` before changing it. All steps are one transaction.
 *
 * @param migrations the history of the schema; a test may pass a longer one
 * @throws DatabaseError if the file is not a database of this program or belongs to a newer version
 */
export function migrate(path: string, migrations: readonly Migration[] = MIGRATIONS): void {
  openMigrated(path, migrations).close();
}

/** Opens a database after migrating it, as {@linkcode migrate} does. */
export function openMigrated(
  path: string,
  migrations: readonly Migration[] = MIGRATIONS,
): DatabaseSync {
  const database = new DatabaseSync(path);
  try {
    const version = readVersion(database, path);
    if (version > migrations.length) {
      throw new DatabaseError(
        `The database "${path}" has version ${version} and comes from a newer muster; ` +
          `this one knows versions up to ${migrations.length}`,
      );
    }
    configureConnection(database);
    if (version < migrations.length) change(database, path, migrations, version);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function change(
  database: DatabaseSync,
  path: string,
  migrations: readonly Migration[],
  version: number,
): void {
  if (version > 0) copyAside(database, path, version);
  // In one transaction, the disk is waited for once, and a start that is cut off changes nothing.
  database.exec("BEGIN IMMEDIATE");
  for (const step of migrations.slice(version)) database.exec(sqliteSql(step));
  database.exec(`PRAGMA user_version = ${migrations.length}`);
  database.exec("COMMIT");
}

function readVersion(database: DatabaseSync, path: string): number {
  try {
    return Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  } catch (error) {
    throw new DatabaseError(
      `The database "${path}" cannot be read: ${reasonOfSqlite(error, path)}`,
    );
  }
}

/** Copies a database without other connections, after a checkpoint of its write-ahead log. */
function copyAside(database: DatabaseSync, path: string, version: number): void {
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  Deno.copyFileSync(path, `${path}.v${version}`);
}
