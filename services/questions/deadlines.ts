import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { TimedSweep } from "../timed_sweep.ts";
import { dueAt, type Question } from "./question.ts";

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
  readonly #sweep: TimedSweep;

  constructor(options: DeadlinesOptions) {
    this.#options = options;
    const { scheduler, log } = options;
    this.#sweep = new TimedSweep({
      scheduler,
      log,
      name: "end questions",
      task: () => this.#endDue(),
    });
  }

  /** Looks at every question, now and when the next deadline comes. */
  sweep(): void {
    this.#sweep.start();
  }

  /** Schedules a look for a deadline. */
  expect(deadline: number): void {
    this.#sweep.expect(deadline);
  }

  /** Resolves when no question is being ended; for tests, too. */
  async idle(): Promise<void> {
    await this.#sweep.idle();
  }

  async close(): Promise<void> {
    await this.#sweep.close();
  }

  /** @returns the next deadline */
  async #endDue(): Promise<number> {
    const { scheduler, log, open, stands, expire } = this.#options;
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
    return next;
  }
}
