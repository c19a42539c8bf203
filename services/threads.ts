/** Threads that start while the process runs. */
import { Unavailable } from "./errors.ts";

/** File descriptors that must be free before a thread starts; the runtime opens six for it. */
const THREAD_FILES = 16;

/**
 * How many more files this process may open.
 *
 * @param most how many to look for
 */
export function filesLeft(most: number): number {
  const files: Deno.FsFile[] = [];
  try {
    while (files.length < most) files.push(Deno.openSync("/dev/null"));
  } catch (error) {
    // A system without this file has other limits.
    if (!(error instanceof Deno.errors.NotFound)) return files.length;
  } finally {
    for (const file of files) file.close();
  }
  return most;
}

/**
 * Call this before `new Worker()`: the runtime ends the whole process if it has no descriptors for
 * a new thread.
 *
 * @throws Unavailable if the process may open too few files
 */
export function requireThread(): void {
  if (filesLeft(THREAD_FILES) === THREAD_FILES) return;
  throw new Unavailable("The server may not open enough files for another thread at the moment");
}
