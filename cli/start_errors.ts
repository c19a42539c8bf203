import { DataFolderError } from "../services/config/mod.ts";
import { StartError } from "../services/daemon/mod.ts";
import { DatabaseError } from "../services/database/mod.ts";
import { SecretFileError } from "../services/identity/mod.ts";
import { CommandFailed } from "./output.ts";

/** What SQLite and the system say of files that cannot be used. */
const UNUSABLE = new RegExp(
  [
    "database disk image is malformed",
    "file is not a database",
    "unable to open database file",
    "disk I/O error",
    "database or disk is full",
    "attempt to write a readonly database",
    "malformed database schema",
    "\\(os error \\d+\\)",
  ].join("|"),
);

/** Turns an error of the start into one sentence. */
export function explainStart(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof CommandFailed) return error;
  const isSentence = error instanceof StartError || error instanceof DataFolderError ||
    error instanceof SecretFileError;
  if (isSentence) return new CommandFailed(error.message);
  if (UNUSABLE.test(error.message)) {
    return new CommandFailed(
      `The data cannot be used: ${error.message}. "muster doctor" says what is wrong, and what helps`,
    );
  }
  return error instanceof DatabaseError ? new CommandFailed(error.message) : error;
}
