/** Copies of a database that others use. */
import { Database } from "./database.ts";
import { FossilError } from "../error.ts";

/** How often another program's writes may interfere. */
const ATTEMPTS = 100;
/** Bytes at the beginning of a log, which are others once it begins anew. */
const LOG_HEAD = 32;
/** Bytes that are copied at a time. */
const STEP = 1024 * 1024;

/**
 * Copies a database with its write-ahead log, as it is at some moment, while others read and write it.
 * Nobody waits. The copy is not durable.
 *
 * A reader stays in the file meanwhile. So nobody moves into the file what that reader does not see,
 * and the log only grows; or it begins anew, which its head tells.
 *
 * This process must have no other connection to the file: when it closes a file that it read, POSIX
 * drops every lock that it holds on that file, including SQLite's.
 *
 * @throws {FossilError} `unavailable` if other programs prevent it
 */
export function copySnapshot(source: string, target: string): void {
  // Closed after the connection: its locks would go with the file.
  using file = Deno.openSync(source);
  using db = new Database(source);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    db.exec("BEGIN");
    db.value("SELECT count(*) FROM sqlite_schema");
    const head = logHead(source);
    copyFrom(file, target);
    if (head !== "") Deno.copyFileSync(`${source}-wal`, `${target}-wal`);
    const isSame = logHead(source) === head;
    db.rollBack();
    if (isSame) return;
  }
  throw new FossilError("unavailable", `"${source}" is in use: it cannot be copied`);
}

function copyFrom(file: Deno.FsFile, target: string): void {
  using copy = Deno.openSync(target, { write: true, create: true, truncate: true });
  file.seekSync(0, Deno.SeekMode.Start);
  const buffer = new Uint8Array(STEP);
  for (let count = file.readSync(buffer); count !== null; count = file.readSync(buffer)) {
    for (let written = 0; written < count;) {
      written += copy.writeSync(buffer.subarray(written, count));
    }
  }
}

/** The beginning of a database's log; "" for none. */
function logHead(path: string): string {
  try {
    using file = Deno.openSync(`${path}-wal`);
    const head = new Uint8Array(LOG_HEAD);
    const count = file.readSync(head) ?? 0;
    return head.subarray(0, count).join();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}
