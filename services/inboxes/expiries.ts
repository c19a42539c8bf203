import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { Sweep } from "../sweep.ts";
import type { Sent } from "./inbox_store.ts";

/** Longest time of one timer: `setTimeout` cannot wait longer than 24 days. */
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;

/** Pause before another attempt after a failure. */
const RETRY_MS = 5000;

export interface ExpiriesOptions {
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** Messages that wait for their agents, in the order in which they expire; the first ones. */
  expiring(): Promise<readonly Sent[]>;
  /** Returns a message to its sender. */
  bounce(sent: Sent): Promise<void>;
}

/** Returns messages to their senders that waited too long for an agent. */
export class Expiries {
  readonly #options: ExpiriesOptions;
  #dueAt = Infinity;
  #cancel = () => {};
  readonly #sweep = new Sweep(() => this.#bounceDue());
  #isClosed = false;

  constructor(options: ExpiriesOptions) {
    this.#options = options;
  }

  /** Returns the messages that expired while muster was down, and waits for the next one. */
  start(): void {
    this.#sweep.start();
  }

  /** Schedules a check for the time at which a message expires. */
  expect(expiresAt: number): void {
    if (this.#isClosed || expiresAt >= this.#dueAt) return;
    this.#cancel();
    this.#dueAt = expiresAt;
    const { scheduler } = this.#options;
    const wait = Math.min(Math.max(expiresAt - scheduler.now(), 0), MAX_WAIT_MS);
    this.#cancel = scheduler.after(wait, () => this.#sweep.start());
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  /** Resolves when no message is on its way back. */
  async idle(): Promise<void> {
    await this.#sweep.idle();
  }

  async #bounceDue(): Promise<void> {
    this.#cancel();
    this.#dueAt = Infinity;
    const { scheduler, log, expiring, bounce } = this.#options;
    try {
      while (!this.#isClosed) {
        const now = scheduler.now();
        const waiting = await expiring();
        const due = waiting.filter(({ expiresAt }) => (expiresAt ?? Infinity) <= now);
        if (due.length === 0) return this.expect(waiting[0]?.expiresAt ?? Infinity);
        for (const sent of due) await bounce(sent);
      }
    } catch (error) {
      log.warn("Messages could not be returned to their senders yet", { error });
      this.expect(scheduler.now() + RETRY_MS);
    }
  }
}
