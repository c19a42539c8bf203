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
 * Starts a thread. The runtime would end the whole process if it had no descriptors for it.
 *
 * @param start makes the worker
 * @throws Unavailable if the process may open too few files, or have no more threads
 */
export function startThread(start: () => Worker): Worker {
  if (filesLeft(THREAD_FILES) < THREAD_FILES) {
    throw new Unavailable("The server may not open enough files for another thread at the moment");
  }
  try {
    return start();
  } catch (cause) {
    throw new Unavailable("The server cannot start another thread at the moment", { cause });
  }
}
