import { getPriority, setPriority } from "node:os";

/** The niceness above the main thread's: a third of its share of a core, and so never nothing. */
const NICENESS = 5;

/** The lowest priority. */
const MAX_NICENESS = 19;

/**
 * Lowers the priority of the calling thread below the program's other threads. For workers with
 * long computations, so that they never delay the main thread.
 *
 * On Linux, a niceness belongs to a thread (sched(7)). Elsewhere it would slow the whole program
 * down, so this does nothing.
 */
export function giveWay(): void {
  if (Deno.build.os !== "linux") return;
  try {
    setPriority(0, Math.min(getPriority(0) + NICENESS, MAX_NICENESS));
  } catch {
    // Forbidden here, for example by a seccomp filter; the work continues at normal priority.
  }
}
