import { type Scheduler, untilMultiple } from "./scheduler.ts";

/**
 * How long changes are gathered for one transaction at most, and how long it must be quiet before
 * one is written at once.
 */
const GATHER_MILLISECONDS = 20;

const FIRST_RETRY_MILLISECONDS = 1000;
const LAST_RETRY_MILLISECONDS = 30_000;

export interface DeferredWriterOptions {
  readonly scheduler: Scheduler;
  /**
   * How long changes may be gathered, in milliseconds: longer than 20 while they are safe elsewhere.
   * 20, if absent.
   */
  gather?(): number;
  /** Whether changes wait to be written. */
  hasWaiting(): boolean;
  /** Writes one batch of them. Returns false if the disk refused it: it is tried again later. */
  writeBatch(): Promise<boolean>;
}

/**
 * Decides when the changes in a queue are written: one batch at a time, within 20 ms after the first
 * change arrived, or later if the owner allows it. A change that nothing preceded for 20 ms is
 * written after the next turn of the event loop: a timer would wake an idle program once more. After
 * a failure, it waits one second before it tries again; the wait doubles up to 30 seconds. The queue
 * stays with its owner.
 */
export class DeferredWriter {
  readonly #options: DeferredWriterOptions;
  #failures = 0;
  /** When the last batch was written, in Unix milliseconds. */
  #lastAt = -Infinity;
  #writing: Promise<boolean> | null = null;
  #cancel: (() => void) | null = null;
  /** Whether the scheduled write gathers changes for longer than 20 ms. */
  #isPatient = false;
  #stopped = false;

  constructor(options: DeferredWriterOptions) {
    this.#options = options;
  }

  /** Whether the disk refused the last batch. */
  get failing(): boolean {
    return this.#failures > 0;
  }

  /** Call this after adding a change: schedules the write. */
  schedule(): void {
    if (this.#cancel !== null) {
      if (!this.#isPatient || this.#longest > GATHER_MILLISECONDS) return;
      this.#cancel();
      this.#cancel = null;
    }
    this.#writeIn(this.failing ? this.#retryMilliseconds() : this.#gatherMilliseconds());
  }

  /** Writes one batch now, or waits for the batch that is being written. Returns its result. */
  write(): Promise<boolean> {
    return this.#writing ??= this.#writeOnce();
  }

  /** Schedules no more writes. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  #writeIn(milliseconds: number): void {
    if (this.#writing !== null || this.#stopped) return;
    if (this.#cancel !== null) return;
    this.#isPatient = milliseconds > GATHER_MILLISECONDS && !this.failing;
    const { scheduler } = this.#options;
    const write = () => {
      this.#cancel = null;
      // What waited may have been written at once; the writer's thread need not start for nothing.
      if (this.failing || this.#options.hasWaiting()) this.write();
    };
    // What the message makes the program send goes out in the turn between.
    const first = milliseconds > 0 ? write : () => this.#cancel = scheduler.after(0, write);
    this.#cancel = scheduler.after(milliseconds, first);
  }

  async #writeOnce(): Promise<boolean> {
    const { scheduler, hasWaiting, writeBatch } = this.#options;
    this.#lastAt = scheduler.now();
    try {
      const written = await writeBatch();
      this.#failures = written ? 0 : this.#failures + 1;
      return written;
    } finally {
      this.#writing = null;
      if (hasWaiting()) this.#writeIn(this.#pauseMilliseconds());
    }
  }

  get #longest(): number {
    return this.#options.gather?.() ?? GATHER_MILLISECONDS;
  }

  /** The pause before the next batch, whose changes have waited for the last one. */
  #pauseMilliseconds(): number {
    if (this.failing) return this.#retryMilliseconds();
    return this.#longest > GATHER_MILLISECONDS ? this.#gatherMilliseconds() : 0;
  }

  #gatherMilliseconds(): number {
    const now = this.#options.scheduler.now();
    const longest = this.#longest;
    if (longest > GATHER_MILLISECONDS) return untilMultiple(longest, now);
    const isQuiet = Math.abs(now - this.#lastAt) >= GATHER_MILLISECONDS;
    return isQuiet ? 0 : untilMultiple(GATHER_MILLISECONDS, now);
  }

  #retryMilliseconds(): number {
    const doubled = FIRST_RETRY_MILLISECONDS * 2 ** Math.min(this.#failures - 1, 16);
    return Math.min(doubled, LAST_RETRY_MILLISECONDS);
  }
}
