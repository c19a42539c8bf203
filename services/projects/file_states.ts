/**
 * After a change this recent, the next one may leave the same modification time: file systems have
 * coarse clocks. In milliseconds.
 */
const SETTLED_MS = 50;

/** Detects changes of repository files by their times and sizes, without opening them. */
export class FileStates {
  /** Checks that are running, by path. */
  readonly #running = new Map<string, Promise<string | null>>();
  /** Checks that start when the running one ends. */
  readonly #next = new Map<string, Promise<string | null>>();

  /**
   * The state of a file, with everything that any program wrote to it before the call. Equal states
   * mean equal content; null if that is not certain yet. Concurrent calls share a check.
   */
  of(path: string): Promise<string | null> {
    const running = this.#running.get(path);
    if (running === undefined) return this.#look(path);
    const known = this.#next.get(path);
    if (known !== undefined) return known;
    const next = running.then(() => {
      this.#next.delete(path);
      return this.#look(path);
    });
    this.#next.set(path, next);
    return next;
  }

  #look(path: string): Promise<string | null> {
    const look = stateOfFile(path).finally(() => {
      if (this.#running.get(path) === look) this.#running.delete(path);
    });
    this.#running.set(path, look);
    return look;
  }
}

/**
 * Covers the file and its write-ahead log: a write goes to the log first and into the file later.
 */
export async function stateOfFile(path: string): Promise<string | null> {
  const parts = await Promise.all([path, `${path}-wal`].map(partOf));
  const newest = Math.max(...parts.map(({ modified }) => modified));
  if (newest === -Infinity || newest > Date.now() - SETTLED_MS) return null;
  return parts.map(({ modified, size, inode }) => `${modified} ${size} ${inode}`).join(" ");
}

async function partOf(path: string): Promise<{ modified: number; size: number; inode: number }> {
  try {
    const { mtime, size, ino } = await Deno.stat(path);
    return { modified: mtime?.getTime() ?? -Infinity, size, inode: ino ?? 0 };
  } catch {
    return { modified: -Infinity, size: 0, inode: 0 };
  }
}
