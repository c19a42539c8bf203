import type { EarlyEnd } from "../early_end.ts";
import { TooMany } from "../errors.ts";
import type { Scheduler } from "../scheduler.ts";

/** Most requests that wait for an answer at once. */
const MAX_WAITING = 5000;

/** Requests that wait for the end of a question. */
export class QuestionWaits {
  readonly #scheduler: Scheduler;
  readonly #waiting = new Map<number, Set<() => void>>();
  #count = 0;
  #isClosed = false;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /**
   * Resolves when a question has ended, when the time is over, or at an early end.
   *
   * @throws TooMany
   */
  async wait(id: number, milliseconds: number, end: EarlyEnd): Promise<void> {
    if (this.#isClosed) return;
    if (this.#count >= MAX_WAITING) throw new TooMany("Too many requests wait for answers");
    this.#count++;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting.add(resolve));
    const cancel = this.#scheduler.after(milliseconds, resolve);
    end.onEnd = resolve;
    await promise;
    cancel();
    this.#count--;
    waiting.delete(resolve);
    if (waiting.size === 0 && this.#waiting.get(id) === waiting) this.#waiting.delete(id);
  }

  /** Ends the waits for a question. */
  ended(id: number): void {
    for (const resolve of this.#waiting.get(id) ?? []) resolve();
  }

  /** Ends every wait. */
  close(): void {
    this.#isClosed = true;
    for (const id of this.#waiting.keys()) this.ended(id);
  }
}
