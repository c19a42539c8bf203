/** Opens a file for reading, in any folder and in any state that its last writer left. */
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { FossilError, isWriteRefused } from "../error.ts";
import { Database } from "./database.ts";

/** How often to copy a file again because somebody wrote to it meanwhile. */
const ATTEMPTS = 3;

/**
 * Opens a file for reading. Takes a log or journal of its last writer into account. Where the file
 * and its folder can be written, SQLite cleans up what it finds and leaves nothing behind.
 * Otherwise nothing is written there: if SQLite has to write, it reads a copy of the file and its
 * log in the temporary folder. (SQLite could read a file without a log as `immutable`, but Deno
 * opens URIs only with all permissions.)
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

/** Opens the file for writing; null if SQLite cannot write its files beside it. */
function openWritable(path: string): Database | null {
  const db = probed(path, false);
  db?.refuseWrites();
  return db;
}

/**
 * Opens the file read-only, with locks; null if that needs a file that does not exist. In WAL mode,
 * that is the file of shared memory, which SQLite would create and leave there.
 */
function openLocked(path: string): Database | null {
  return usesWriteAheadLog(path) && sizeOf(`${path}-shm`) === 0 ? null : probed(path, true);
}

/** Opens and reads the file; null if SQLite would have to write and cannot. */
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
 * Copies the file with its log or journal to a temporary folder, where SQLite combines them. The
 * copy is already unlinked when this returns, so it disappears with the process.
 */
function openCopy(path: string): Database {
  const folder = Deno.makeTempDirSync({ prefix: "muster-fossil-" });
  try {
    const copy = join(folder, "copy");
    copyUnchanged(path, copy);
    const db = new Database(copy);
    try {
      db.useRollbackJournal();
      db.refuseWrites();
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
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
  if (Deno.build.os !== "windows") Deno.chmodSync(copy, 0o600);
}

/** A text that changes whenever somebody writes one of the files. */
function stateOf(files: readonly string[]): string {
  return JSON.stringify(files.map((file) => {
    const info = statOf(file);
    return info === null ? null : [info.ino, info.size, info.mtime?.getTime()];
  }));
}

/** Size of a file in bytes, 0 if there is none. */
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

/** Bytes 18 and 19 of a database file: 2 if a log is written ahead. */
const VERSION_OFFSET = 18;
const WITH_LOG = 2;

/** @see {@link https://www.sqlite.org/fileformat.html#file_format_version_numbers} */
function usesWriteAheadLog(path: string): boolean {
  const header = new Uint8Array(VERSION_OFFSET + 1);
  using file = Deno.openSync(path);
  file.readSync(header);
  return header[VERSION_OFFSET] === WITH_LOG;
}
