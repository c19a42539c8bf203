import { renameSynced, writeSynced } from "../synced_files.ts";

/** A file with a secret cannot be used; the message says why in one sentence. */
export class SecretFileError extends Error {
  override readonly name = "SecretFileError";
}

/** Longest secret file that is read, in bytes. */
const MAX_BYTES = 4096;

/**
 * Reads a file with a secret, without white space around it.
 *
 * @returns null if there is no such file, and "" if it is too long
 * @throws SecretFileError if it cannot be read
 */
export async function readSecretFile(path: string): Promise<string | null> {
  try {
    const { size } = await Deno.stat(path);
    return size > MAX_BYTES ? "" : (await Deno.readTextFile(path)).trim();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw new SecretFileError(`The file "${path}" cannot be read: ${reason(error)}`);
  }
}

/** Whether nobody but its owner may use a file; Windows has other rights. */
export async function isPrivate(path: string): Promise<boolean> {
  const { mode } = await Deno.stat(path);
  return mode === null || (mode & 0o077) === 0;
}

/**
 * Writes a file with a secret atomically. Only its owner can read it at any moment.
 *
 * @throws SecretFileError if it cannot be written
 */
export async function writeSecretFile(path: string, secret: string): Promise<void> {
  const temporary = `${path}.tmp`;
  try {
    await Deno.remove(temporary).catch(ignoreMissing);
    await writeSynced(temporary, secret);
    await renameSynced(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw new SecretFileError(`The file "${path}" cannot be written: ${reason(error)}`);
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
