import { DatabaseSync } from "node:sqlite";

/** The lock was not taken; the message ends the sentence "The folder …". */
export class FolderLockError extends Error {
  override readonly name = "FolderLockError";
  /** Whether another process holds it. */
  readonly isInUse: boolean;

  constructor(message: string, isInUse = false) {
    super(message);
    this.isInUse = isInUse;
  }
}

/**
 * A lock on a file. The operating system releases it when the process ends, in any way.
 *
 * It is the lock that SQLite takes on a database, which every runtime and every version of the
 * program understands.
 */
export class FolderLock {
  readonly #connection: DatabaseSync;

  private constructor(connection: DatabaseSync) {
    this.#connection = connection;
  }

  /**
   * Takes the lock, or fails at once.
   *
   * @param path the file, created if needed
   * @throws FolderLockError
   */
  static take(path: string): FolderLock {
    let connection: DatabaseSync;
    try {
      connection = new DatabaseSync(path);
    } catch {
      throw new FolderLockError("cannot be written");
    }
    try {
      // The file stays empty, so nothing has to be rolled back after a crash: a journal on disk would
      // only be waited for.
      connection.exec(`
        PRAGMA busy_timeout = 0;
        PRAGMA journal_mode = MEMORY;
        PRAGMA locking_mode = EXCLUSIVE;
        BEGIN EXCLUSIVE;
      `);
      return new FolderLock(connection);
    } catch (error) {
      connection.close();
      const reason = error instanceof Error ? error.message : String(error);
      if (/locked/.test(reason)) throw new FolderLockError("is in use by another muster", true);
      throw new FolderLockError(`cannot be locked: ${reason}`);
    }
  }

  /** Releases the lock. */
  close(): void {
    this.#connection.close();
  }
}
