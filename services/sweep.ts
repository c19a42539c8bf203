import { logFailure } from "./background.ts";
import type { Log } from "./log.ts";

export interface SweepOptions {
  readonly log: Pick<Log, "error">;
  /** What the task does, such as `end questions`. */
  readonly name: string;
  /** Handles its errors. One that it does not handle is a bug, and is logged. */
  readonly task: () => Promise<void>;
}

/**
 * Runs a task that does everything there is to do, one run at a time. A start during a run leads to
 * another run, even if it comes at the very end, or the run fails. So the task always sees what was
 * there before the last start.
 */
export class Sweep {
  readonly #options: SweepOptions;
  #running: Promise<void> | null = null;
  #isAsked = false;

  constructor(options: SweepOptions) {
    this.#options = options;
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
    const { log, name, task } = this.#options;
    while (this.#isAsked) {
      this.#isAsked = false;
      try {
        await task();
      } catch (error) {
        logFailure(log, name, error);
      }
    }
    // At once: a callback of the promise would run later, and a start in between would be lost.
    this.#running = null;
  }
}
