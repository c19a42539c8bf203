import { FIRST_VERSION } from "./first_schema.ts";
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

/** Why this program cannot use a database of a version, and what to do; null if it can. */
export function refusalOf(
  version: number,
): { readonly reason: string; readonly fix: string } | null {
  const isNewer = version > SCHEMA_VERSION;
  if (!isNewer && (version === 0 || version >= FIRST_VERSION)) return null;
  const origin = isNewer ? "a newer muster" : "before the first release";
  return {
    reason: `has version ${version} and comes from ${origin}; ` +
      `this muster knows versions ${FIRST_VERSION} to ${SCHEMA_VERSION}`,
    fix: isNewer
      ? "run a newer muster"
      : "upgrade it with an older muster, or begin with an empty data folder",
  };
}

/**
 * @param database the words for it in the error
 * @throws DatabaseError if this program cannot use a database of `version`
 */
export function requireKnown(version: number, database: string): void {
  const refusal = refusalOf(version);
  if (refusal !== null) throw new DatabaseError(`${database} ${refusal.reason}: ${refusal.fix}`);
}

/**
 * Migrates the database at `path` to the current schema; creates it if it does not exist. Copies an
 * existing one to `<path>.v<version>` before changing it. All steps are one transaction.
 *
 * @param migrations the history of the schema; a test may pass a longer one
 * @throws DatabaseError if the file is not a database of this program, or its version is not known
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
    requireKnown(version, `The database "${path}"`);
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
