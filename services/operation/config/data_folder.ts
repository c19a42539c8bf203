import { join } from "node:path";
import { FolderLock, FolderLockError } from "../../engines/database/sqlite/mod.ts";

/** The data folder cannot be used; the message says why in one sentence. */
export class DataFolderError extends Error {
  override readonly name = "DataFolderError";
  /** Whether another process uses the folder. */
  readonly isInUse: boolean;

  constructor(message: string, isInUse = false) {
    super(message);
    this.isInUse = isInUse;
  }
}

const LOCK_FILE = "lock";

/**
 * The folder with everything that outlives the process. One process uses it at a time; the
 * operating system releases its lock when the process ends, in any way.
 */
export class DataFolder {
  readonly path: string;
  readonly #lock: FolderLock;

  private constructor(path: string, lock: FolderLock) {
    this.path = path;
    this.#lock = lock;
  }

  /**
   * Checks whether another process uses the folder, and changes nothing.
   *
   * @throws DataFolderError if one does, or if that cannot be found out
   */
  static check(path: string): void {
    if (fileExists(join(path, LOCK_FILE))) takeLock(path).close();
  }

  /**
   * Creates the folder if needed, readable only by its owner, and locks it.
   *
   * @throws DataFolderError if it cannot be written or another process uses it
   */
  static open(path: string): DataFolder {
    try {
      Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw new DataFolderError(`The data folder "${path}" cannot be made: ${reason(error)}`);
    }
    return new DataFolder(path, takeLock(path));
  }

  /** The path of a file in the folder. */
  file(name: string): string {
    return join(this.path, name);
  }

  /** Whether the folder has a file of this name. */
  has(name: string): boolean {
    return fileExists(this.file(name));
  }

  /** Releases the lock. */
  close(): void {
    this.#lock.close();
  }
}

function takeLock(path: string): FolderLock {
  try {
    return FolderLock.take(join(path, LOCK_FILE));
  } catch (error) {
    if (!(error instanceof FolderLockError)) throw error;
    throw new DataFolderError(`The data folder "${path}" ${error.message}`, error.isInUse);
  }
}

function fileExists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
