import type { Database } from "../database/mod.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { EventLog } from "./event_log.ts";
import { Retention } from "./retention.ts";
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
