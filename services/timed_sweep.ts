import type { Scheduler } from "./scheduler.ts";
import { Sweep, type SweepOptions } from "./sweep.ts";

/** Longest time of one timer: `setTimeout` cannot wait longer than 24 days. */
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;

/** After how long a task that failed runs again, in milliseconds. */
const RETRY_MS = 60_000;

export interface TimedSweepOptions extends Omit<SweepOptions, "task"> {
  readonly scheduler: Pick<Scheduler, "now" | "after">;
  /**
   * Handles what is due, and returns when the next thing will be, in Unix milliseconds, or Infinity. It
   * handles its errors, like that of any sweep.
   */
  readonly task: () => Promise<number>;
}

/** A {@linkcode Sweep} that also runs when the next of the things that it handles falls due. */
export class TimedSweep {
  readonly #scheduler: Pick<Scheduler, "now" | "after">;
  readonly #sweep: Sweep;
  #dueAt = Infinity;
  #cancel = () => {};
  #isClosed = false;

  constructor(options: TimedSweepOptions) {
    const { scheduler, log, name, task } = options;
    this.#scheduler = scheduler;
    const run = async () => {
      if (this.#isClosed) return;
      this.#cancel();
      this.#dueAt = Infinity;
      try {
        this.expect(await task());
      } catch (error) {
        this.expect(scheduler.now() + RETRY_MS);
        throw error;
      }
    };
    this.#sweep = new Sweep({ log, name, task: run });
  }

  /** Whether it is closed; a long task then ends early. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Runs the task soon, or once more if it runs now. */
  start(): void {
    if (!this.#isClosed) this.#sweep.start();
  }

  /** Lets the task run at a time at which something falls due, in Unix milliseconds. */
  expect(dueAt: number): void {
    if (this.#isClosed || dueAt >= this.#dueAt) return;
    this.#cancel();
    this.#dueAt = dueAt;
    const wait = Math.min(Math.max(dueAt - this.#scheduler.now(), 0), MAX_WAIT_MS);
    this.#cancel = this.#scheduler.after(wait, () => this.start());
  }

  /** Resolves when the task does not run. */
  async idle(): Promise<void> {
    await this.#sweep.idle();
  }

  /** Lets the task run no more, and waits for its end. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.idle();
  }
}
