import { DataFolderError } from "../services/config/mod.ts";
import { StartError } from "../services/daemon/mod.ts";
import { DatabaseError } from "../services/database/mod.ts";
import { SecretFileError } from "../services/identity/mod.ts";
import { CommandFailed } from "./output.ts";

/** Turns an error of the start into one sentence. */
export function explainStart(error: unknown): unknown {
  const known = error instanceof StartError || error instanceof DatabaseError ||
    error instanceof DataFolderError || error instanceof SecretFileError;
  return known ? new CommandFailed(error.message) : error;
}
