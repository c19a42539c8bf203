import type { Database } from "../database/mod.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";

/** How often the log is checked, in milliseconds. */
const INTERVAL = 60_000;

/** Rows removed in one transaction, so that no other waits long. */
const STEP = 500;

export interface RetentionOptions {
  readonly database: Pick<Database, "trimEvents">;
  readonly scheduler: Scheduler;
  /** Events that are kept; 0 means all. */
  readonly maxEvents: number;
  /** How long they are kept, in milliseconds; 0 means forever. */
  readonly maxAge: number;
  readonly log: Log;
}

/** Removes expired events from the log, a few at a time. */
export class Retention {
  readonly #options: RetentionOptions;
  #cancel: () => void = () => {};
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  /** Starts checking the log once a minute. */
  start(): void {
    const { maxEvents, maxAge } = this.#options;
    if (maxEvents === 0 && maxAge === 0) return;
    this.#stopped = false;
    this.#schedule();
  }

  /** Removes expired events; resolves when no more are due. */
  async run(): Promise<void> {
    const { database, scheduler, maxEvents, maxAge, log } = this.#options;
    const keep = maxEvents === 0 ? Infinity : maxEvents;
    const before = maxAge === 0 ? -Infinity : scheduler.now() - maxAge;
    try {
      let removed = STEP;
      while (removed === STEP && !this.#stopped) {
        removed = await database.trimEvents({ keep, before, limit: STEP });
      }
    } catch (error) {
      log.warn("Old events could not be removed", { error });
    }
  }

  /** Stops after the running step. It can start again. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#running;
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#cancel = this.#options.scheduler.after(INTERVAL, () => {
      this.#running = this.run().finally(() => this.#schedule());
    });
  }
}
