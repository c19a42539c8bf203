import { getPriority, setPriority } from "node:os";

/** More than the main thread's by as much: a third of its share of a core, and so never nothing. */
const NICENESS = 5;

/** The lowest priority that there is. */
const MAX_NICENESS = 19;

/**
 * Makes the calling thread give way to the others of the program wherever they want the same core:
 * for workers that compute for long, so that the main thread is never late because of them.
 *
 * On Linux a niceness belongs to a thread (sched(7)). Elsewhere it would slow the whole program
 * down, and nothing is done.
 */
export function giveWay(): void {
  if (Deno.build.os !== "linux") return;
  try {
    setPriority(0, Math.min(getPriority(0) + NICENESS, MAX_NICENESS));
  } catch {
    // Forbidden here, by a seccomp filter for one; the work is done all the same.
  }
}
