import type { Database } from "../database/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { EventLog } from "./event_log.ts";
import { newEvent, SYSTEM } from "./types.ts";

export interface EventServicesOptions {
  readonly database: Database;
  readonly scheduler: Scheduler;
  /** The version of the program. */
  readonly version: string;
  /** Events that are kept; 0 means all. */
  readonly maxEvents: number;
  /** How long they are kept, in days; 0 means forever. */
  readonly maxDays: number;
  readonly log: Log;
}

/** The event log and its retention. */
export interface EventServices {
  readonly eventLog: EventLog;
  /** Starts separately. */
  readonly retention: Retention;
  /** Logs that the configuration was reloaded, and the keys that differ from the start. */
  reloaded(keys: readonly string[]): void;
  /**
   * Logs that the program stopped. Call it before the database is closed, and after everything else
   * is.
   */
  close(): Promise<void>;
}

const DAY = 24 * 60 * 60_000;

/**
 * Opens the event log, and logs that the program started: with the first transaction, or when the
 * database is flushed.
 *
 * @throws the database's error
 */
export async function openEvents(options: EventServicesOptions): Promise<EventServices> {
  const { database, scheduler, version, maxEvents, maxDays, log } = options;
  const retention = new Retention({ database, scheduler, maxEvents, maxAge: maxDays * DAY, log });
  const eventLog = await EventLog.open({ database, scheduler, log });
  const noted = (written: Promise<unknown>) =>
    written.catch((error: unknown) => log.warn("The event log cannot be written", { error }));
  const note = (event: ReturnType<typeof newEvent>) => noted(database.commit({ events: [event] }));
  // The start waits for no disk.
  const started = newEvent("program.started", { version }, SYSTEM, scheduler.now());
  noted(database.commitLater({ events: [started] }));
  return {
    eventLog,
    retention,
    reloaded(keys) {
      note(newEvent("program.reloaded", { keys }, SYSTEM, scheduler.now()));
    },
    async close() {
      eventLog.close();
      await note(newEvent("program.stopped", {}, SYSTEM, scheduler.now()));
    },
  };
}

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
