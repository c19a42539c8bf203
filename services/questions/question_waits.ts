import { CallerQuota } from "../caller_quota.ts";
import type { EarlyEnd } from "../early_end.ts";
import type { Principal } from "../identity/mod.ts";
import type { Scheduler } from "../scheduler.ts";

/** Most readers that may wait at once; an eighth of them is the operator's and the admins'. */
const MAX_READERS = 6000;

/** Requests that wait for the end of a question. */
export class QuestionWaits {
  readonly #scheduler: Scheduler;
  readonly #waiting = new Map<number, Set<() => void>>();
  readonly #quota = new CallerQuota(MAX_READERS, {
    things: "requests",
    state: "waiting for answers",
  });
  #isClosed = false;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /**
   * Resolves when a question has ended, when the time is over, or at an early end.
   *
   * @param reader whose quota the wait counts against
   * @throws TooMany
   */
  async wait(
    id: number,
    reader: Principal,
    { milliseconds, end }: { readonly milliseconds: number; readonly end: EarlyEnd },
  ): Promise<void> {
    if (this.#isClosed) return;
    using _held = this.#quota.take({ principal: reader, address: null });
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting.add(resolve));
    const cancel = this.#scheduler.after(milliseconds, resolve);
    end.onEnd = resolve;
    await promise;
    cancel();
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
