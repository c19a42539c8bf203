import { DatabaseSync } from "node:sqlite";

/**
 * The schema of the archive. A log is a target. One table has the entries of all logs in order;
 * their times never go back, so ordering by time and sequence gives the order of a log.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE targets (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    title TEXT NOT NULL,
    records INTEGER NOT NULL DEFAULT 0,
    UNIQUE (account, name)
  ) STRICT;

  CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY,
    target INTEGER NOT NULL REFERENCES targets (id),
    time INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind INTEGER NOT NULL,
    confined INTEGER NOT NULL,
    content TEXT NOT NULL
  ) STRICT;

  CREATE INDEX entries_in_order ON entries (target, time);
  CREATE INDEX messages_in_order ON entries (target, time) WHERE kind = 0;
  CREATE INDEX entries_by_id ON entries (id);
  CREATE INDEX confined_entries ON entries (target) WHERE confined = 1;
  `,
];

/**
 * Opens the archive and migrates it to the present schema. Creates it if it does not exist, readable
 * by its owner alone. Deleted content is overwritten in the file. A commit survives the process, but
 * only a sync of the log survives a loss of power.
 *
 * @throws Error if the file is not an archive of this program or belongs to a newer version
 */
export function openArchive(path: string): DatabaseSync {
  Deno.openSync(path, { read: true, write: true, create: true, mode: 0o600 }).close();
  const database = new DatabaseSync(path);
  try {
    const version = versionOf(database, path);
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA secure_delete = ON;
      PRAGMA trusted_schema = OFF;
    `);
    for (const [index, statements] of MIGRATIONS.slice(version).entries()) {
      database.exec("BEGIN IMMEDIATE");
      database.exec(statements);
      database.exec(`PRAGMA user_version = ${version + index + 1}`);
      database.exec("COMMIT");
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function versionOf(database: DatabaseSync, path: string): number {
  let version: number;
  try {
    version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  } catch {
    throw new Error(`The file "${path}" is no database`);
  }
  if (version <= MIGRATIONS.length) return version;
  throw new Error(
    `The history "${path}" has version ${version} and comes from a newer muster; ` +
      `this one knows versions up to ${MIGRATIONS.length}`,
  );
}
