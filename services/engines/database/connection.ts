import type { DatabaseSync } from "node:sqlite";

/** How long a connection waits for another one's lock, in milliseconds. */
const BUSY_TIMEOUT = 5000;

/**
 * Configures a connection to the app database: an acknowledged commit is on disk, readers and the
 * writer do not block each other, and references are checked.
 */
export function configureConnection(database: DatabaseSync): void {
  database.exec(`
    PRAGMA busy_timeout = ${BUSY_TIMEOUT};
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA trusted_schema = OFF;
  `);
}
