import { setPriority } from "node:os";

/** A third of the main thread's share where both want one core, and so never nothing. */
const NICENESS = 5;

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
    setPriority(0, NICENESS);
  } catch {
    // Forbidden here, by a seccomp filter for one; the work is done all the same.
  }
}
