import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { TimedSweep } from "../timed_sweep.ts";
import type { Sent } from "./sent_messages.ts";

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
  readonly #sweep: TimedSweep;

  constructor(options: ExpiriesOptions) {
    this.#options = options;
    const { scheduler, log } = options;
    this.#sweep = new TimedSweep({
      scheduler,
      log,
      name: "return expired messages",
      task: () => this.#bounceDue(),
    });
  }

  /** Returns the messages that expired while muster was down, and waits for the next one. */
  start(): void {
    this.#sweep.start();
  }

  /** Schedules a check for the time at which a message expires. */
  expect(expiresAt: number): void {
    this.#sweep.expect(expiresAt);
  }

  close(): void {
    void this.#sweep.close();
  }

  /** Resolves when no message is on its way back. */
  async idle(): Promise<void> {
    await this.#sweep.idle();
  }

  /** @returns when the next message expires */
  async #bounceDue(): Promise<number> {
    const { scheduler, log, expiring, bounce } = this.#options;
    try {
      while (!this.#sweep.isClosed) {
        const now = scheduler.now();
        const waiting = await expiring();
        const due = waiting.filter(({ expiresAt }) => (expiresAt ?? Infinity) <= now);
        if (due.length === 0) return waiting[0]?.expiresAt ?? Infinity;
        for (const sent of due) await bounce(sent);
      }
      return Infinity;
    } catch (error) {
      log.warn("Messages could not be returned to their senders yet", { error });
      return scheduler.now() + RETRY_MS;
    }
  }
}
