import { type Rate, TokenBucket } from "../kernel/token_bucket.ts";
import type { Scheduler } from "../scheduler.ts";

/**
 * Sends lines in order, no faster than a network allows. After a silence, a burst may be sent at
 * once.
 */
export class Pacer {
  /** Null without a limit. */
  readonly #bucket: TokenBucket | null;
  readonly #scheduler: Scheduler;
  #queue: (() => void)[] = [];
  #cancelTimer: (() => void) | null = null;

  /** @param pace null for no limit */
  constructor(pace: Rate | null, scheduler: Scheduler) {
    this.#bucket = pace === null ? null : new TokenBucket(pace, scheduler.now());
    this.#scheduler = scheduler;
  }

  /** Whether nothing waits. */
  get idle(): boolean {
    return this.#queue.length === 0;
  }

  /** Milliseconds until the last of this many further lines would be sent. */
  delay(lines: number): number {
    return this.#bucket?.delay(this.#scheduler.now(), this.#queue.length + lines) ?? 0;
  }

  /** Queues a task that sends one line. */
  send(task: () => void): void {
    if (this.#bucket === null) return task();
    this.#queue.push(task);
    if (this.#cancelTimer === null) this.#drain(this.#bucket);
  }

  /** Drops the queue. */
  clear(): void {
    this.#queue = [];
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #drain(bucket: TokenBucket): void {
    this.#cancelTimer = null;
    while (!this.idle) {
      const delay = bucket.tryTake(this.#scheduler.now());
      if (delay > 0) {
        this.#cancelTimer = this.#scheduler.after(delay, () => this.#drain(bucket));
        return;
      }
      this.#queue.shift()?.();
    }
  }
}
