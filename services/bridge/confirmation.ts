import type { Scheduler } from "../scheduler.ts";

/** A confirmation or refusal that another party owes in time. Settles once. */
export class Confirmation {
  /** Rejects with the error of {@link refuse} or of the time limit; may be left unobserved. */
  readonly promise: Promise<void>;
  readonly #resolve: () => void;
  readonly #reject: (error: Error) => void;
  readonly #cancelTimer: () => void;

  /**
   * @param milliseconds how long the other party may take
   * @param late creates the error for the time limit
   */
  constructor(scheduler: Scheduler, milliseconds: number, late: () => Error) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {});
    this.promise = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#cancelTimer = scheduler.after(milliseconds, () => reject(late()));
  }

  confirm(): void {
    this.#cancelTimer();
    this.#resolve();
  }

  refuse(error: Error): void {
    this.#cancelTimer();
    this.#reject(error);
  }
}
