import { Unavailable } from "../../kernel/errors.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

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

/** How long a request waits for the bridge to be up. */
const READY_MILLISECONDS = 5000;

/** Whether the bridge is up, and the callers that wait for it. */
export class Readiness {
  readonly #scheduler: Scheduler;
  readonly #waiting = new Set<Confirmation>();
  #up = false;
  #ended: string | null = null;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  get up(): boolean {
    return this.#up;
  }

  /** Marks the bridge as up, unless it has been stopped, and resumes the waiting callers. */
  begin(): void {
    if (this.#ended !== null) return;
    this.#up = true;
    for (const waiting of this.#waiting) waiting.confirm();
  }

  /** Marks the bridge as down. */
  interrupt(): void {
    this.#up = false;
  }

  /** Refuses every caller, now and later, with Unavailable for this reason. */
  end(reason: string): void {
    this.#up = false;
    this.#ended = reason;
    for (const waiting of this.#waiting) waiting.refuse(new Unavailable(reason));
  }

  /**
   * Resolves when the bridge is up.
   *
   * @throws Unavailable after 5 seconds, or when the bridge stops
   */
  async wait(): Promise<void> {
    if (this.#up) return;
    if (this.#ended !== null) throw new Unavailable(this.#ended);
    const ready = new Confirmation(
      this.#scheduler,
      READY_MILLISECONDS,
      () => new Unavailable("The bridge is not connected to IRC"),
    );
    this.#waiting.add(ready);
    try {
      await ready.promise;
    } finally {
      this.#waiting.delete(ready);
    }
  }
}
