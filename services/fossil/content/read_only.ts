/** Opens a file to read it, wherever it lies and however its last writer left it. */
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { FossilError, isWriteRefused } from "../error.ts";
import { Database } from "./database.ts";

/** How often a file is copied anew because somebody wrote it meanwhile. */
const ATTEMPTS = 3;

/**
 * Opens a file to read it. A log or journal that its last writer left is taken into account. Where
 * the file and its folder can be written, SQLite cleans up what it finds and leaves nothing behind.
 * Where they cannot, nothing is written there: if SQLite would have to, a copy of the file and its
 * log in the temporary folder is read. (SQLite could read a file without a log as `immutable`, but
 * Deno opens no URI without every permission.)
 *
 * This process must not have the file open: see `backUp`.
 *
 * @throws {FossilError} `unavailable` if others keep writing a file that cannot be locked.
 */
export function connectReadOnly(path: string): Database {
  return (isWritable(path) ? openWritable(path) : null) ?? openLocked(path) ?? openCopy(path);
}

/** Asks the system without opening the file: closing it would drop this process's locks. */
function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Opens the file as a writer does; null where the files beside it cannot be written. */
function openWritable(path: string): Database | null {
  const db = probed(path, false);
  db?.refuseWrites();
  return db;
}

/**
 * Opens the file with locks, but without writing; null where that needs more than can be read. In
 * the journal mode WAL that is a file of shared memory, which SQLite would make and leave there.
 */
function openLocked(path: string): Database | null {
  return usesWriteAheadLog(path) && sizeOf(`${path}-shm`) === 0 ? null : probed(path, true);
}

/** Opens and reads the file; null where SQLite must write for that, and cannot. */
function probed(path: string, readOnly: boolean): Database | null {
  let db: Database | null = null;
  try {
    db = new Database(path, { readOnly });
    db.value("SELECT count(*) FROM sqlite_schema");
    return db;
  } catch (error) {
    db?.close();
    if (isWriteRefused(error)) return null;
    throw error;
  }
}

/**
 * Copies the file with its log or journal to a temporary folder, and lets SQLite bring them
 * together there. The copy has no name any more when this returns, so that it ends with the process.
 */
function openCopy(path: string): Database {
  const folder = Deno.makeTempDirSync({ prefix: "muster-fossil-" });
  try {
    const copy = join(folder, "copy");
    copyUnchanged(path, copy);
    const db = new Database(copy);
    db.useRollbackJournal();
    db.refuseWrites();
    return db;
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function copyUnchanged(path: string, copy: string): void {
  const suffixes = ["", "-wal", "-journal"];
  const files = suffixes.map((suffix) => path + suffix);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = stateOf(files);
    for (const suffix of suffixes) copyFile(path + suffix, copy + suffix);
    if (stateOf(files) === before) return;
  }
  throw new FossilError("unavailable", `"${path}" is written again and again while it is copied`);
}

/** Copies a file, if there is one, so that the copy can be written. */
function copyFile(path: string, copy: string): void {
  if (sizeOf(path) === 0) return;
  Deno.copyFileSync(path, copy);
  Deno.chmodSync(copy, 0o600);
}

/** Changes whenever somebody writes one of the files. */
function stateOf(files: readonly string[]): string {
  return JSON.stringify(files.map((file) => {
    const info = statOf(file);
    return info === null ? null : [info.ino, info.size, info.mtime?.getTime()];
  }));
}

/** Size of a file in bytes, 0 where there is none. */
function sizeOf(path: string): number {
  return statOf(path)?.size ?? 0;
}

function statOf(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Bytes 18 and 19 of a database file: 2 where a log is written ahead. */
const VERSION_OFFSET = 18;
const WITH_LOG = 2;

/** @see {@link https://www.sqlite.org/fileformat.html#file_format_version_numbers} */
function usesWriteAheadLog(path: string): boolean {
  const header = new Uint8Array(VERSION_OFFSET + 1);
  using file = Deno.openSync(path);
  file.readSync(header);
  return header[VERSION_OFFSET] === WITH_LOG;
}
