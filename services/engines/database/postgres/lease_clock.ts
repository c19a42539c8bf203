import type { Scheduler } from "../../../kernel/scheduler.ts";

/** By how much the time of day must jump to count, in milliseconds. */
const JUMP = 100;

/**
 * The time by which a node counts its lease, in milliseconds. It never goes slower than that of
 * PostgreSQL: it goes on when somebody sets the time of day back, and jumps with it when the machine
 * has slept.
 */
export class LeaseClock {
  readonly #scheduler: Pick<Scheduler, "now" | "steady">;
  /** The time of day less that of the steady clock, when it was last read. */
  #gap: number;
  #jumped = 0;

  constructor(scheduler: Pick<Scheduler, "now" | "steady">) {
    this.#scheduler = scheduler;
    this.#gap = scheduler.now() - scheduler.steady();
  }

  now(): number {
    const steady = this.#scheduler.steady();
    const gap = this.#scheduler.now() - steady;
    if (gap - this.#gap > JUMP) this.#jumped += gap - this.#gap;
    this.#gap = gap;
    return steady + this.#jumped;
  }
}
