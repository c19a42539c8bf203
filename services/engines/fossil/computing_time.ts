import process from "node:process";

/** How much longer than its limit a computation may take by the clock, at most. */
const MOST_WAITING_MS = 20_000;

/**
 * How long a computation may take by the clock, in milliseconds. Workers give way to all other
 * threads, so a busy machine leaves them little of a core.
 *
 * @param limitMs how long it may compute
 */
export function longestFor(limitMs: number): number {
  return limitMs + Math.min(2 * limitMs, MOST_WAITING_MS);
}

/** Measures how long this thread computes. On a busy machine, the clock runs far ahead of it. */
export class ComputingTime {
  readonly #start = performance.now();
  readonly #before = computed();

  /**
   * Whether the thread has computed for so long, give or take 10 ms, or the clock has gone on by
   * {@link longestFor} so long.
   */
  exceeds(limitMs: number): boolean {
    const passed = performance.now() - this.#start;
    if (passed <= limitMs) return false;
    return passed > longestFor(limitMs) || computed() - this.#before >= limitMs;
  }
}

/** The processor time of this thread, in milliseconds; in an older Deno, of the whole program. */
function computed(): number {
  const isKnown = typeof process.threadCpuUsage === "function";
  const { user, system } = isKnown ? process.threadCpuUsage() : process.cpuUsage();
  return (user + system) / 1000;
}
