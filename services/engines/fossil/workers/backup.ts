import { Database } from "../content/mod.ts";
import { FossilError } from "../error.ts";

/** How often another program's writes may interfere. */
const ATTEMPTS = 100;

/**
 * Copies a repository to a file, which must not exist, while other programs use it: readers
 * continue, writers wait. The copy is one state of the repository and needs no log beside it.
 *
 * This process must have no other connection to the repository: when it closes a file that it read,
 * POSIX drops every lock that it holds on that file, including SQLite's.
 *
 * @throws {FossilError} `invalid` if the target exists; `unavailable` if other programs prevent the
 * write-ahead log from being moved into the repository.
 */
export function backUp(source: string, target: string): void {
  if (exists(target)) throw new FossilError("invalid", `"${target}" exists`);
  const part = `${target}.part`;
  try {
    copyWhole(source, part);
    Deno.renameSync(part, target);
  } catch (error) {
    if (exists(part)) Deno.removeSync(part);
    throw error;
  }
}

/** With the log in the file and a lock on writing, the file alone is the whole repository. */
function copyWhole(source: string, target: string): void {
  const db = new Database(source);
  try {
    db.useWriteAheadLog();
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      db.checkpoint();
      db.exec("BEGIN IMMEDIATE");
      const isWhole = (sizeOf(`${source}-wal`) ?? 0) === 0;
      if (isWhole) copyFile(source, target);
      db.rollBack();
      if (isWhole) return;
    }
  } finally {
    db.close();
  }
  throw new FossilError("unavailable", `"${source}" is in use: its log cannot be moved into it`);
}

function copyFile(source: string, target: string): void {
  Deno.copyFileSync(source, target);
  using file = Deno.openSync(target, { read: true, write: true });
  file.syncSync();
}

function exists(path: string): boolean {
  return sizeOf(path) !== null;
}

/** Size of a file in bytes; null if there is none. */
function sizeOf(path: string): number | null {
  try {
    return Deno.lstatSync(path).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
