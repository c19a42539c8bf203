/** A new database file appears under its name whole or not at all, even if its writer is killed. */
import { randomBytes } from "node:crypto";
import { dirname } from "node:path";
import { FossilError } from "../error.ts";
import { claim } from "./create.ts";
import { Database } from "./database.ts";

/** Suffix of drafts. A draft without a lock belongs to a process that died. */
const DRAFT = /\.muster-draft-[0-9a-f]{16}$/;
/** Files that SQLite may have created beside a draft. */
const COMPANIONS = ["", "-wal", "-shm", "-journal"];

/** A name for a draft, in the folder of its file. */
export function draftPathFor(path: string): string {
  return `${path}.muster-draft-${randomBytes(8).toString("hex")}`;
}

/** @throws {FossilError} `invalid` if the file exists. */
export function requireAbsent(path: string): void {
  if (exists(path)) throw new FossilError("invalid", `"${path}" exists`);
}

/**
 * Makes a database file as a draft in the same folder, and names it when it is on disk.
 *
 * @param write fills the draft and commits; nothing needs to be durable.
 * @throws {FossilError} `invalid` if the file exists, or appears meanwhile.
 */
export function writeWholeFile(path: string, write: (draft: Database) => void): void {
  const draftPath = draftPathFor(path);
  claim(draftPath);
  try {
    const draft = new Database(draftPath);
    try {
      draft.useNoLog();
      draft.lock();
      write(draft);
      draft.sync();
      giveName(draftPath, path);
    } finally {
      draft.close();
    }
  } finally {
    removeDraft(draftPath);
  }
  syncFolder(dirname(path));
}

/** Gives a draft its name, unless another file has it. Renaming would replace that file. */
function giveName(draft: string, path: string): void {
  try {
    Deno.linkSync(draft, path);
  } catch (error) {
    requireAbsent(path);
    if (error instanceof Deno.errors.NotFound) throw error;
    // The file system has no hard links.
    Deno.renameSync(draft, path);
  }
}

/** Removes drafts of dead processes from a folder. */
export function removeDeadDrafts(folder: string): void {
  for (const { name, isFile } of Deno.readDirSync(folder)) {
    if (isFile && DRAFT.test(name)) removeIfDead(`${folder}/${name}`);
  }
}

/** The process that makes a draft holds SQLite's lock on it. */
function removeIfDead(path: string): void {
  let draft: Database | null = null;
  try {
    draft = new Database(path, { busyTimeoutMs: 0 });
    draft.lock();
  } catch (error) {
    if (error instanceof Error && /locked/.test(error.message)) return draft?.close();
    // A draft that is not a database is dead too.
  }
  removeDraft(path);
  draft?.close();
}

/** Removes a draft, if it exists, and SQLite's files beside it. */
export function removeDraft(path: string): void {
  for (const companion of COMPANIONS) {
    try {
      Deno.removeSync(path + companion);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Makes a new name durable, if the system can sync a folder. */
function syncFolder(path: string): void {
  try {
    using folder = Deno.openSync(path);
    folder.syncSync();
  } catch {
    // Windows opens no folders.
  }
}
