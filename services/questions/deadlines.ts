import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { Sweep } from "../sweep.ts";
import { dueAt, type Question } from "./question.ts";

/** Longest time of one timer: `setTimeout` cannot wait longer than 24 days. */
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;

/** Pause before another attempt after a failure. */
const RETRY_MS = 5000;

export interface DeadlinesOptions {
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** The open questions. */
  open(): Iterable<Question>;
  /** Whether the deadline of a question stands still. */
  stands(question: Question): boolean;
  /** Ends a question, unless somebody else does so. */
  expire(question: Question): Promise<void>;
}

/** Ends questions at their deadlines, also those that passed while muster was down. */
export class Deadlines {
  readonly #options: DeadlinesOptions;
  #dueAt = Infinity;
  #cancel = () => {};
  readonly #sweep = new Sweep(() => this.#endDue());
  #isClosed = false;

  constructor(options: DeadlinesOptions) {
    this.#options = options;
  }

  /** Looks at every question, now and when the next deadline comes. */
  sweep(): void {
    if (this.#isClosed) return;
    this.#sweep.start();
  }

  /** Schedules a look for a deadline. */
  expect(deadline: number): void {
    if (this.#isClosed || deadline >= this.#dueAt) return;
    this.#cancel();
    this.#dueAt = deadline;
    const { scheduler } = this.#options;
    const wait = Math.min(Math.max(deadline - scheduler.now(), 0), MAX_WAIT_MS);
    this.#cancel = scheduler.after(wait, () => this.sweep());
  }

  /** Resolves when no question is being ended; for tests, too. */
  async idle(): Promise<void> {
    await this.#sweep.idle();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.#sweep.idle();
  }

  async #endDue(): Promise<void> {
    if (this.#isClosed) return;
    const { scheduler, log, open, stands, expire } = this.#options;
    this.#cancel();
    this.#dueAt = Infinity;
    let next = Infinity;
    for (const question of [...open()]) {
      if (stands(question)) continue;
      if (dueAt(question) > scheduler.now()) next = Math.min(next, dueAt(question));
      else {
        try {
          await expire(question);
        } catch (error) {
          log.warn("A question could not be ended yet", { question: question.id, error });
          next = Math.min(next, scheduler.now() + RETRY_MS);
        }
      }
    }
    this.expect(next);
  }
}
