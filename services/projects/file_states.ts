/**
 * A file that changed so recently may change again without another time of change: the clock of a
 * file system is coarse. In milliseconds.
 */
const SETTLED_MS = 50;

/** Tells from outside whether repository files have changed, without opening them. */
export class FileStates {
  /** Looks that are under way, by path. */
  readonly #running = new Map<string, Promise<string | null>>();
  /** Looks that begin when the running one ends. */
  readonly #next = new Map<string, Promise<string | null>>();

  /**
   * The state of a file after everything that any program had written to it before the call. Two
   * equal states have the same content; null while that cannot be told. Calls at the same time share
   * a look.
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

/** A write goes to the write-ahead log first and into the file later; either has a new time then. */
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
