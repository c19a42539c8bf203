/** Time as a service knows it, so that a test can let it pass as it likes. */
export interface Scheduler {
  /** Unix time in milliseconds. */
  now(): number;
  /** Runs a task once after so many milliseconds; the returned function calls it off. */
  after(milliseconds: number, task: () => void): () => void;
}

/**
 * The milliseconds until the next multiple of a step, at most the step. Timers of independent parts
 * that end at such a multiple end together: each one alone would wake an idle program.
 */
export function untilMultiple(step: number, now: number): number {
  return step - now % step;
}

/** The clock and the timers of the process. */
export const systemScheduler: Scheduler = Object.freeze({
  now: () => Date.now(),
  after(milliseconds: number, task: () => void) {
    const timer = setTimeout(task, milliseconds);
    return () => clearTimeout(timer);
  },
});
