import { clearImmediate, setImmediate } from "node:timers";

/** Time as a service knows it, so that a test can let it pass as it likes. */
export interface Scheduler {
  /** Unix time in milliseconds. */
  now(): number;
  /**
   * Milliseconds from any starting point. Nobody sets this clock, but it may stand still while the
   * machine sleeps.
   */
  steady(): number;
  /**
   * Runs a task once after so many milliseconds; the returned function calls it off. After 0, it
   * runs in the next turn of the event loop, for which the thread does not fall asleep.
   */
  after(milliseconds: number, task: () => void): () => void;
}

/**
 * The milliseconds until the next multiple of a step, at most the step. Timers of independent parts
 * that end at such a multiple end together: each one alone would wake an idle program.
 */
export function untilMultiple(step: number, now: number): number {
  return step - now % step;
}

/**
 * Runs a task at every multiple of a step, by Unix time: all parts of the program that look at
 * something regularly wake it once together. It does not keep the process alive.
 *
 * @param step in milliseconds
 * @returns a function that ends it
 */
export function everyMultiple(step: number, task: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = () => {
    timer = setTimeout(() => {
      wait();
      task();
    }, untilMultiple(step, Date.now()));
    Deno.unrefTimer(timer);
  };
  wait();
  return () => clearTimeout(timer);
}

/**
 * The clock and the timers of the process. Deno 2.4, which the executable embeds, may run a timer that
 * was cleared in the turn in which it ended; a task that was called off does not run.
 */
export const systemScheduler: Scheduler = Object.freeze({
  now: () => Date.now(),
  steady: () => performance.now(),
  after(milliseconds: number, task: () => void) {
    if (milliseconds <= 0) {
      const turn = setImmediate(task);
      return () => clearImmediate(turn);
    }
    let isOff = false;
    const timer = setTimeout(() => {
      if (!isOff) task();
    }, milliseconds);
    return () => {
      isOff = true;
      clearTimeout(timer);
    };
  },
});
