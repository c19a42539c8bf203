/**
 * After a change this recent, the next one may leave the same modification time: file systems have
 * coarse clocks. In milliseconds.
 */
const SETTLED_MS = 50;

/**
 * What tells the content of a file from what it had earlier, without reading it: times, sizes and
 * inodes of the file and of its write-ahead log.
 *
 * @returns null if that is not certain, because the file has just changed
 */
export function stateOf(path: string): string | null {
  const parts = [path, `${path}-wal`].map(partOf);
  const newest = Math.max(...parts.map(({ modified }) => modified));
  if (newest > Date.now() - SETTLED_MS) return null;
  return parts.map(({ modified, size, inode }) => `${modified} ${size} ${inode}`).join(" ");
}

/** An empty log says as much as none. */
function partOf(path: string): { modified: number; size: number; inode: number } {
  try {
    const { mtime, size, ino } = Deno.statSync(path);
    if (size > 0) return { modified: mtime?.getTime() ?? Infinity, size, inode: ino ?? 0 };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return { modified: 0, size: 0, inode: 0 };
}
