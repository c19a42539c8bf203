import { ComputingTime } from "../computing_time.ts";
import { FossilError } from "../error.ts";

/** The caller has cancelled. Never leaves the worker. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** How to watch a running job. */
export interface WatchOptions {
  /** Limit of the time to compute, in milliseconds; null for none. */
  readonly limitMs: number | null;
  /** Whether the caller has cancelled. */
  readonly isInterrupted: () => boolean;
  readonly report: (done: number, total: number | null) => void;
}

/** Between two reports of progress, in milliseconds. */
const REPORT_INTERVAL_MS = 100;

/**
 * Watches one job. Long work calls `check` or `progress` repeatedly; both throw if the caller has
 * cancelled or the time is over.
 */
export class Watch {
  readonly #options: WatchOptions;
  readonly #time = new ComputingTime();
  #reported = -Infinity;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** @throws {FossilError} `timeout` if the time is over. */
  readonly check = (): void => {
    const { limitMs, isInterrupted } = this.#options;
    if (isInterrupted()) throw new Interrupted("The caller gave up");
    if (limitMs === null || !this.#time.exceeds(limitMs)) return;
    throw new FossilError("timeout", `It takes longer than ${limitMs / 1000} s`);
  };

  /** Checks, and reports the progress to the caller; null for an unknown total. */
  readonly progress = (done: number, total: number | null): void => {
    this.check();
    const now = performance.now();
    if (now - this.#reported < REPORT_INTERVAL_MS) return;
    this.#reported = now;
    this.#options.report(done, total);
  };
}
