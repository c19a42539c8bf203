import type { Log } from "./log.ts";
import type { Scheduler } from "./scheduler.ts";

/** Says which work in the background has failed. */
function logFailure(log: Pick<Log, "error">, name: string, error: unknown): void {
  log.error("Work in the background failed", { work: name, error });
}

/**
 * Starts work without waiting for it, as timers do. Its error is logged with the name of the work,
 * and ends nothing else.
 *
 * @param name what the work does, such as `settle the start`
 * @returns a promise that resolves when the work has ended; it never rejects
 */
export function inBackground(
  log: Pick<Log, "error">,
  name: string,
  work: () => void | Promise<void>,
): Promise<void> {
  return Promise.try(work).catch((error) => logFailure(log, name, error));
}

interface SweepOptions {
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

/** Longest time of one timer: `setTimeout` cannot wait longer than 24 days. */
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;

/** After how long a task that failed runs again, in milliseconds. */
const RETRY_MS = 60_000;

interface TimedSweepOptions extends Omit<SweepOptions, "task"> {
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
