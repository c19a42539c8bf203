import type { Scheduler } from "../scheduler.ts";
import type { Ending, Revocations } from "./revocations.ts";

/** Longest delay of one timer, in milliseconds; a longer one would overflow and run at once. */
const MAX_WAIT = 24 * 60 * 60_000;

export interface ExpiriesOptions {
  readonly scheduler: Scheduler;
  readonly revocations: Revocations;
}

/**
 * Announces expired credentials, so that what they opened is closed at once, not at its next
 * request. One timer serves all of them.
 */
export class Expiries {
  readonly #scheduler: Scheduler;
  readonly #revocations: Revocations;
  readonly #waiting = new Map<string, { readonly time: number; readonly ending: Ending }>();
  #wakesAt = Infinity;
  #cancel: () => void = () => {};

  constructor(options: ExpiriesOptions) {
    this.#scheduler = options.scheduler;
    this.#revocations = options.revocations;
  }

  /**
   * Sets or changes when a credential expires.
   *
   * @param id the credential's own
   * @param time Unix milliseconds
   */
  set(id: string, time: number, ending: Ending): void {
    if (this.#waiting.get(id)?.time === time) return;
    this.#waiting.set(id, { time, ending });
    if (time < this.#wakesAt) this.#schedule(time);
  }

  /** Forgets a credential that has ended in another way. */
  delete(id: string): void {
    this.#waiting.delete(id);
  }

  /** Stops announcing. */
  close(): void {
    this.#waiting.clear();
    this.#cancel();
  }

  #schedule(time: number): void {
    this.#cancel();
    this.#wakesAt = time;
    const wait = Math.min(Math.max(0, time - this.#scheduler.now()), MAX_WAIT);
    this.#cancel = this.#scheduler.after(wait, () => this.#wake());
  }

  #wake(): void {
    this.#wakesAt = Infinity;
    const now = this.#scheduler.now();
    let earliest = Infinity;
    for (const [id, { time, ending }] of this.#waiting) {
      if (time > now) {
        earliest = Math.min(earliest, time);
      } else {
        this.#waiting.delete(id);
        this.#revocations.announce(ending);
      }
    }
    if (earliest < this.#wakesAt) this.#schedule(earliest);
  }
}
