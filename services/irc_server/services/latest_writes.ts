import type { Log } from "../../log.ts";
import type { Scheduler } from "../../scheduler.ts";

/** How long a failed write waits before it is tried again, in milliseconds. */
const RETRY = 5000;

export interface LatestWritesOptions<Value> {
  /** Writes the value of a key; rejects if it cannot. */
  readonly write: (key: string, value: Value) => Promise<void>;
  /** What the log says if a write fails. */
  readonly failure: string;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Writes the latest value of each key. A change is written at once; changes that arrive during a
 * write are combined into the next one. A failed write is tried again with the next change, or later.
 */
export class LatestWrites<Value> {
  readonly #options: LatestWritesOptions<Value>;
  /** Unwritten values. */
  readonly #pending = new Map<string, Value>();
  readonly #writing = new Map<string, Promise<boolean>>();
  readonly #retries = new Map<string, () => void>();

  constructor(options: LatestWritesOptions<Value>) {
    this.#options = options;
  }

  /** The unwritten value of a key; undefined if there is none. */
  pending(key: string): Value | undefined {
    return this.#pending.get(key);
  }

  /** Writes a value. Tells whether it, or a later one, is on disk; if not, it is tried again. */
  put(key: string, value: Value): Promise<boolean> {
    this.#pending.set(key, value);
    return this.#writing.get(key) ?? this.#start(key);
  }

  /** Drops the unwritten value of a key. */
  forget(key: string): void {
    this.#pending.delete(key);
  }

  /** Writes everything pending, including what has failed before. */
  async close(): Promise<void> {
    for (const key of [...this.#retries.keys()]) this.#start(key);
    await Promise.all(this.#writing.values());
    for (const cancel of this.#retries.values()) cancel();
  }

  #start(key: string): Promise<boolean> {
    this.#retries.get(key)?.();
    this.#retries.delete(key);
    if (!this.#pending.has(key)) return Promise.resolve(true);
    const writing = this.#write(key);
    this.#writing.set(key, writing);
    return writing;
  }

  /** Writes until nothing is pending. False if that failed. */
  async #write(key: string): Promise<boolean> {
    const { log, scheduler, write, failure } = this.#options;
    try {
      for (let next = this.#pending.get(key); next !== undefined; next = this.#pending.get(key)) {
        await write(key, next);
        if (this.#pending.get(key) === next) this.#pending.delete(key);
      }
      return true;
    } catch (error) {
      log.warn(failure, { error });
      this.#retries.set(key, scheduler.after(RETRY, () => void this.#start(key)));
      return false;
    } finally {
      this.#writing.delete(key);
    }
  }
}
