import { getPriority, setPriority } from "node:os";

/** How much nicer: when both want one core, a worker gets a third of the main thread's share. */
const NICER = 5;
const NICEST = 19;

/**
 * Lowers the priority of the calling thread below the program's other threads, so that it does not
 * delay the main thread.
 *
 * On Linux a niceness belongs to a thread (sched(7)). Elsewhere it would slow the whole program
 * down, so this does nothing.
 */
export function giveWay(): void {
  if (Deno.build.os !== "linux") return;
  try {
    setPriority(0, Math.min(NICEST, getPriority(0) + NICER));
  } catch {
    // Not permitted here; continue without it.
  }
}
