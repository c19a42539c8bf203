import type { Pace } from "./options.ts";
import type { Scheduler } from "../scheduler.ts";

/**
 * Sends lines in order, no faster than a network allows. After a silence, a burst may be sent at
 * once.
 */
export class Pacer {
  readonly #pace: Pace | null;
  readonly #scheduler: Scheduler;
  #queue: (() => void)[] = [];
  #tokens: number;
  #countedAt: number;
  #cancelTimer: (() => void) | null = null;

  /** @param pace null for no limit */
  constructor(pace: Pace | null, scheduler: Scheduler) {
    this.#pace = pace;
    this.#scheduler = scheduler;
    this.#tokens = pace?.burst ?? 0;
    this.#countedAt = scheduler.now();
  }

  /** Whether nothing waits. */
  get idle(): boolean {
    return this.#queue.length === 0;
  }

  /** Milliseconds until the last of this many further lines would be sent. */
  delay(lines: number): number {
    if (this.#pace === null) return 0;
    this.#count(this.#pace);
    const missing = this.#queue.length + lines - this.#tokens;
    return Math.max(0, Math.ceil(missing / this.#pace.perSecond * 1000));
  }

  /** Queues a task that sends one line. */
  send(task: () => void): void {
    if (this.#pace === null) return task();
    this.#queue.push(task);
    if (this.#cancelTimer === null) this.#drain(this.#pace);
  }

  /** Drops the queue. */
  clear(): void {
    this.#queue = [];
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #drain(pace: Pace): void {
    this.#cancelTimer = null;
    this.#count(pace);
    while (this.#tokens >= 1) {
      const task = this.#queue.shift();
      if (task === undefined) return;
      this.#tokens--;
      task();
    }
    if (this.idle) return;
    const wait = Math.ceil((1 - this.#tokens) / pace.perSecond * 1000);
    this.#cancelTimer = this.#scheduler.after(wait, () => this.#drain(pace));
  }

  #count({ perSecond, burst }: Pace): void {
    const now = this.#scheduler.now();
    const earned = Math.max(0, now - this.#countedAt) / 1000 * perSecond;
    this.#tokens = Math.min(burst, this.#tokens + earned);
    this.#countedAt = now;
  }
}
