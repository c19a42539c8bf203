/**
 * Runs a task that does everything there is to do, one run at a time. A start during a run leads to
 * another run, even if it comes at the very end. So the task always sees what was there before the
 * last start.
 */
export class Sweep {
  readonly #task: () => Promise<void>;
  #running: Promise<void> | null = null;
  #isAsked = false;

  /** @param task must handle its errors */
  constructor(task: () => Promise<void>) {
    this.#task = task;
  }

  /** Runs the task soon, or once more if it runs now. */
  start(): void {
    this.#isAsked = true;
    this.#running ??= this.#run();
  }

  /** Resolves when the task does not run. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#isAsked) {
        this.#isAsked = false;
        await this.#task();
      }
    } finally {
      // At once: a callback of the promise would run later, and a start in between would be lost.
      this.#running = null;
    }
  }
}
