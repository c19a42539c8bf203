/** Files beside a repository that hold only what follows from it, so that a damaged one is made anew. */
import { Database } from "./database.ts";

/** Options of {@linkcode openDerived}. */
export interface DerivedOptions {
  /** Statements that make the tables, one of which is `meta`. */
  readonly schema: string;
  /** How long to wait for another connection, in milliseconds. */
  readonly busyTimeoutMs: number;
}

/** Opens or creates a derived file; replaces one that is damaged or something else. */
export function openDerived(path: string, options: DerivedOptions): Database {
  try {
    return prepare(path, options);
  } catch (error) {
    if (!isDamage(error)) throw error;
    removeDerived(path);
    return prepare(path, options);
  }
}

function prepare(path: string, { schema, busyTimeoutMs }: DerivedOptions): Database {
  const db = new Database(path, { busyTimeoutMs });
  try {
    db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;");
    if (!db.hasTable("meta")) {
      db.exec("BEGIN IMMEDIATE");
      // Another connection may have been quicker.
      if (!db.hasTable("meta")) db.exec(schema);
      db.exec("COMMIT");
    }
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** SQLite's messages for a damaged file. */
export function isDamage(error: unknown): boolean {
  return error instanceof Error &&
    /malformed|not a database|no such table|no such column|vtable constructor/i.test(error.message);
}

/** Removes a derived file. */
export function removeDerived(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) {
    try {
      Deno.removeSync(path + suffix);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}
