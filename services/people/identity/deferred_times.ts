import type { Log } from "../../kernel/log.ts";

/** How long a time may wait to be written, in milliseconds. */
const INTERVAL = 60_000;

export interface DeferredTimesOptions {
  /** Writes the times recorded since the last call, by id, in Unix milliseconds. */
  readonly write: (times: ReadonlyMap<string, number>) => Promise<unknown>;
  readonly log: Log;
}

/**
 * Times such as "last used" that change with every request. They are written together, at most once
 * a minute, and when the program ends.
 */
export class DeferredTimes {
  readonly #options: DeferredTimesOptions;
  #pending = new Map<string, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: DeferredTimesOptions) {
    this.#options = options;
  }

  /** Records a time, to be written later. */
  set(id: string, time: number): void {
    this.#pending.set(id, time);
    if (this.#timer !== undefined) return;
    const timer = setTimeout(() => this.flush(), INTERVAL);
    Deno.unrefTimer(timer);
    this.#timer = timer;
  }

  /** The latest time, written or not. */
  latest(id: string, written: number | null): number | null {
    return this.#pending.get(id) ?? written;
  }

  /** Forgets something that is gone. */
  delete(id: string): void {
    this.#pending.delete(id);
  }

  /** Writes all unwritten times. Those that cannot be written are tried again a minute later. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending.size === 0) return;
    const times = new Map(this.#pending);
    try {
      await this.#options.write(times);
    } catch (error) {
      this.#options.log.warn("Times of last use could not be written", { error });
      return;
    }
    for (const [id, time] of times) {
      if (this.#pending.get(id) === time) this.#pending.delete(id);
    }
  }
}
