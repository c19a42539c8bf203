import { BackupError } from "./errors.ts";

/** Longest name of a file in a backup, in UTF-16 units. */
const MAX_NAME = 255;

/** A folder or a file: no separator, no drive, nothing that leads out of the folder. */
const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9._~+@-]+$/;

/**
 * Checks that a name in a backup stays in the folder that it is restored to.
 *
 * @throws BackupError
 */
export function requireSafeName(name: string): void {
  const isSafe = name.length <= MAX_NAME && name.split("/").every((part) => SEGMENT.test(part));
  if (isSafe) return;
  const shown = JSON.stringify(name.slice(0, MAX_NAME));
  throw new BackupError(`The backup holds a file named ${shown}, which muster never writes`);
}
