/**
 * Runs a task that does everything there is to do, once at a time. A start during a run is followed
 * by another run, however late it comes: what was there before a start is always seen by a run after
 * it.
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
      // In the step that found nothing asked: a callback of the promise would come later, and a
      // start before it would be lost.
      this.#running = null;
    }
  }
}
