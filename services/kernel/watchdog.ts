/** In how many steps a watchdog waits. */
const STEPS = 10;

/**
 * Calls a function once this thread has run for a time without calling the watchdog off. A thread
 * that stands still (the machine keeps it from the core, or the process was stopped) hears nothing
 * meanwhile. Afterwards its timers run before it hears what came. So the watchdog waits in steps,
 * and a standstill is no more than one of them.
 */
export class Watchdog {
  #timer: ReturnType<typeof setTimeout>;
  #isOff = false;

  /**
   * @param ms the time, in milliseconds
   * @param onSilence called at most once
   */
  constructor(ms: number, onSilence: () => void) {
    const wait = (left: number): ReturnType<typeof setTimeout> =>
      setTimeout(() => {
        // Deno 2.4 may run a timer that was cleared in the turn in which it ended.
        if (this.#isOff) return;
        if (left === 0) onSilence();
        else this.#timer = wait(left - 1);
      }, ms / STEPS);
    this.#timer = wait(STEPS - 1);
  }

  /** Calls it off. */
  stop(): void {
    this.#isOff = true;
    clearTimeout(this.#timer);
  }
}
