import { getPriority, setPriority } from "node:os";

/** How much nicer: a third of the main thread's share where both want one core, and never nothing. */
const NICER = 5;
const NICEST = 19;

/**
 * Makes the calling thread give way to the others of the program wherever they want the same core,
 * so that the main thread is not late because of it.
 *
 * On Linux a niceness belongs to a thread (sched(7)). Elsewhere it would slow the whole program
 * down, and nothing is done.
 */
export function giveWay(): void {
  if (Deno.build.os !== "linux") return;
  try {
    setPriority(0, Math.min(NICEST, getPriority(0) + NICER));
  } catch {
    // It is forbidden here; the work is done all the same.
  }
}
