import type { Database } from "../database/mod.ts";
import type { Log } from "../log.ts";
import { type Scheduler, untilMultiple } from "../scheduler.ts";
import { type LedgerBounds, trimming } from "./call_store.ts";

/** How often the ledger is checked, in milliseconds. */
const INTERVAL = 600_000;

export interface LedgerRetentionOptions {
  readonly database: Pick<Database, "tables" | "commit">;
  readonly bounds: LedgerBounds;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** Removes old rows from the ledger, some at a time. */
export class LedgerRetention {
  readonly #options: LedgerRetentionOptions;
  #cancel: () => void = () => {};
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: LedgerRetentionOptions) {
    this.#options = options;
  }

  start(): void {
    const { maxCalls, maxDays, maxUsageDays } = this.#options.bounds;
    if (maxCalls + maxDays + maxUsageDays === 0) return;
    this.#stopped = false;
    this.#schedule();
  }

  /** Removes old rows; resolves when no more are due. */
  async run(): Promise<void> {
    const { database, bounds, scheduler, log } = this.#options;
    try {
      while (!this.#stopped) {
        const statements = await trimming(database, bounds, scheduler.now());
        if (statements.length === 0) return;
        await database.commit({ statements });
      }
    } catch (error) {
      log.warn("Old calls of models could not be removed from the ledger", { error });
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
    const { scheduler } = this.#options;
    this.#cancel = scheduler.after(untilMultiple(INTERVAL, scheduler.now()), () => {
      this.#running = this.run().finally(() => this.#schedule());
    });
  }
}
