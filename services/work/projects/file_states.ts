/**
 * After a change this recent, the next one may leave the same modification time: file systems have
 * coarse clocks. In milliseconds.
 */
const SETTLED_MS = 50;

/** What tells one state of a file from another. */
interface Part {
  readonly modified: number;
  readonly size: number;
  readonly inode: number;
}

const ABSENT: Part = { modified: -Infinity, size: 0, inode: 0 };

/**
 * The state of a repository file, with everything that any program wrote to it before the call,
 * without opening it. Equal states mean equal content; null if that is not certain yet. The check
 * blocks for a few microseconds; in another thread, it would cost ten times as much.
 */
export function stateOfFileNow(path: string): string | null {
  return stateOf(
    filesOf(path).map((file) => {
      try {
        return partOf(Deno.statSync(file));
      } catch {
        return ABSENT;
      }
    }),
  );
}

/** The file and its write-ahead log: a write goes to the log first and into the file later. */
function filesOf(path: string): readonly string[] {
  return [path, `${path}-wal`];
}

function stateOf(parts: readonly Part[]): string | null {
  const newest = Math.max(...parts.map(({ modified }) => modified));
  if (newest === -Infinity || newest > Date.now() - SETTLED_MS) return null;
  return parts.map(({ modified, size, inode }) => `${modified} ${size} ${inode}`).join(" ");
}

function partOf({ mtime, size, ino }: Deno.FileInfo): Part {
  return { modified: mtime?.getTime() ?? -Infinity, size, inode: ino ?? 0 };
}
