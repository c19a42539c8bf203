import { FossilError } from "../error.ts";

/** The caller does not want the result any more. Never leaves the worker. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** How a job is watched while it runs. */
export interface WatchOptions {
  /** How long it may take, in milliseconds; null for as long as it needs. */
  readonly limitMs: number | null;
  /** Whether the caller has given up. */
  readonly isInterrupted: () => boolean;
  readonly report: (done: number, total: number | null) => void;
}

/** Between two reports of progress, in milliseconds. */
const REPORT_INTERVAL_MS = 100;

/**
 * Watches one job. What takes long calls `check` or `progress` again and again; either ends the
 * work by an error if the caller gave up or the time is over.
 */
export class Watch {
  readonly #options: WatchOptions;
  readonly #start = performance.now();
  #reported = -Infinity;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** @throws {FossilError} `timeout` if the time is over. */
  readonly check = (): void => {
    const { limitMs, isInterrupted } = this.#options;
    if (isInterrupted()) throw new Interrupted("The caller gave up");
    if (limitMs !== null && performance.now() - this.#start > limitMs) {
      throw new FossilError("timeout", `It takes longer than ${limitMs / 1000} s`);
    }
  };

  /** Checks, and tells the caller how far the work is; null for a total that is not known. */
  readonly progress = (done: number, total: number | null): void => {
    this.check();
    const now = performance.now();
    if (now - this.#reported < REPORT_INTERVAL_MS) return;
    this.#reported = now;
    this.#options.report(done, total);
  };
}
