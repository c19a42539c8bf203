import { amount } from "../services/amount.ts";
import { type Scheduler, systemScheduler, untilMultiple } from "../services/scheduler.ts";

/** Lines that may wait to be written; further ones are dropped and counted. */
const MAX_WAITING = 10_000;

/**
 * How long lines are gathered for one write at most, in milliseconds: first, and while lines keep
 * coming. A write wakes another thread, and its end wakes this one.
 */
const FIRST_GATHER_MILLISECONDS = 20;
const LAST_GATHER_MILLISECONDS = 1000;

/** So many lines are written without gathering more. */
const MOST_GATHERED = 1000;

/** After so many milliseconds without a write, lines are gathered for the first time again. */
const QUIET_MILLISECONDS = 500;

/**
 * A line, or what makes it when it is written: one line after the other takes a fraction of the time
 * that each takes alone.
 */
export type Line = string | (() => string);

/**
 * Writes lines to a stream without blocking the program. Lines within 20 ms share one write; each
 * write in a row gathers for twice as long, up to a second, and longer while the reader is slow. An urgent
 * line waits for 20 ms at most. They wait in a bounded queue; lines beyond its bound are dropped and
 * counted.
 */
export class LineWriter {
  readonly #stream: Pick<typeof Deno.stderr, "write">;
  readonly #scheduler: Scheduler;
  readonly #encoder = new TextEncoder();
  #waiting: Line[] = [];
  #dropped = 0;
  #writing: Promise<void> | null = null;
  /** Begins the next write; absent if none is due. */
  #cancel: (() => void) | null = null;
  /** How long the next lines are gathered. */
  #gather = FIRST_GATHER_MILLISECONDS;
  /** When the last write began, in Unix milliseconds. */
  #lastAt = -Infinity;
  /** Whether one of the waiting lines is urgent. */
  #isUrgent = false;

  constructor(stream: Pick<typeof Deno.stderr, "write">, scheduler: Scheduler = systemScheduler) {
    this.#stream = stream;
    this.#scheduler = scheduler;
  }

  /**
   * Queues a line, given without its line break.
   *
   * @param isUrgent whether it should not wait for others for long
   */
  write(line: Line, isUrgent = false): void {
    if (this.#waiting.length >= MAX_WAITING) this.#dropped++;
    else this.#waiting.push(line);
    if (isUrgent && !this.#isUrgent) {
      this.#isUrgent = true;
      this.#cancel?.();
      this.#cancel = null;
    }
    if (this.#waiting.length >= MOST_GATHERED) this.#start();
    else if (this.#cancel === null) this.#startLater();
  }

  /** Resolves when every queued line is written. */
  async flush(): Promise<void> {
    do {
      this.#start();
      await this.#writing;
    } while (this.#waiting.length > 0);
  }

  #startLater(): void {
    if (this.#writing !== null) return;
    const now = this.#scheduler.now();
    const isQuiet = Math.abs(now - this.#lastAt) >= QUIET_MILLISECONDS;
    if (isQuiet) this.#gather = FIRST_GATHER_MILLISECONDS;
    const gather = this.#isUrgent ? FIRST_GATHER_MILLISECONDS : this.#gather;
    this.#cancel = this.#scheduler.after(untilMultiple(gather, now), () => this.#start());
  }

  #start(): void {
    this.#cancel?.();
    this.#cancel = null;
    if (this.#writing !== null) return;
    this.#lastAt = this.#scheduler.now();
    this.#isUrgent = false;
    this.#gather = Math.min(2 * this.#gather, LAST_GATHER_MILLISECONDS);
    this.#writing = this.#writeWaiting();
  }

  async #writeWaiting(): Promise<void> {
    const lines = this.#waiting.map((line) => typeof line === "string" ? line : line());
    this.#waiting = [];
    if (this.#dropped > 0) {
      lines.push(
        `(${amount(this.#dropped, "line")} of the log ${
          this.#dropped === 1 ? "was" : "were"
        } dropped here)`,
      );
    }
    this.#dropped = 0;
    try {
      if (lines.length > 0) await this.#writeAll(this.#encoder.encode(`${lines.join("\n")}\n`));
    } catch {
      // Nobody reads the log any more; the program continues.
      this.#waiting = [];
    }
    this.#writing = null;
    if (this.#waiting.length > 0) this.#startLater();
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length;) {
      written += await this.#stream.write(bytes.subarray(written));
    }
  }
}
