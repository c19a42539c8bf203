import { getPriority, setPriority } from "node:os";

/** How much nicer: when both want one core, a worker gets a third of the main thread's share. */
export const NICER = 5;

/**
 * The same for threads on the side, with long computations. A niceness decides how soon a thread
 * that wakes gets the core, too: at 10, the main thread waits a fraction of the time that it waits
 * at 5. At 19 it waits no less, and a busy machine leaves the thread next to nothing.
 */
export const NICER_ON_THE_SIDE = 10;
/** The lowest priority that there is. */
export const NICEST = 19;

/**
 * Lowers the priority of the calling thread below the program's other threads, so that it does not
 * delay the main thread.
 *
 * On Linux a niceness belongs to a thread (sched(7)). Elsewhere it would slow the whole program
 * down, so this does nothing.
 */
export function giveWay(nicer: number = NICER): void {
  if (Deno.build.os !== "linux") return;
  try {
    setPriority(0, Math.min(NICEST, getPriority(0) + nicer));
  } catch {
    // Not permitted here; continue without it.
  }
}
