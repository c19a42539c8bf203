import { statfsSync } from "node:fs";
import { type Config, DataFolderError } from "../services/operation/config/mod.ts";
import { StartError } from "../services/operation/daemon/mod.ts";
import { DatabaseError } from "../services/engines/database/mod.ts";
import { Unavailable } from "../services/kernel/errors.ts";
import { SecretFileError } from "../services/people/identity/mod.ts";
import { CommandFailed } from "./output.ts";

/** What SQLite and the system say of files that cannot be used. */
const UNUSABLE = new RegExp(
  [
    "database disk image is malformed",
    "file is not a database",
    "unable to open database file",
    "disk I/O error",
    "database or disk is full",
    "No space left on device",
    "attempt to write a readonly database",
    "malformed database schema",
    "\\(os error \\d+\\)",
  ].join("|"),
);

/** A disk with fewer free bytes is full: a database takes its space in pages of several kilobytes. */
const FULL_BYTES = 1_000_000;

/**
 * Turns an error of the start into one sentence. A full disk has many faces, so it is looked at first.
 *
 * @param config names the folders that the start writes to
 */
export function explainStart(
  error: unknown,
  { data_dir, projects: { dir } }: Pick<Config, "data_dir" | "projects">,
): unknown {
  if (!(error instanceof Error) || error instanceof CommandFailed) return error;
  const unusable = unusableIn(error);
  const full = unusable !== null ? fullFolder(dir === "" ? [data_dir] : [data_dir, dir]) : null;
  if (full !== null) {
    return new CommandFailed(
      `The disk of "${full}" is full: make room, then start muster again (${unusable})`,
    );
  }
  const isSentence = error instanceof StartError || error instanceof DataFolderError ||
    error instanceof SecretFileError;
  if (isSentence) return new CommandFailed(error.message);
  if (unusable !== null) {
    return new CommandFailed(
      `The data cannot be used: ${unusable}. "muster doctor" says what is wrong, and what helps`,
    );
  }
  return error instanceof DatabaseError ? new CommandFailed(error.message) : error;
}

/** What an error, or the cause of a refused read, says of a file that cannot be used; null for nothing. */
function unusableIn(error: Error): string | null {
  if (UNUSABLE.test(error.message)) return error.message;
  return error instanceof Unavailable && error.cause instanceof Error ? error.cause.message : null;
}

/** The first folder whose disk is full; null if none is. */
function fullFolder(folders: readonly string[]): string | null {
  return folders.find((folder) => {
    try {
      const { bavail, bsize } = statfsSync(folder);
      return Number(bavail) * Number(bsize) < FULL_BYTES;
    } catch {
      return false;
    }
  }) ?? null;
}
