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
  /** How long they are kept, in days; 0 means for ever. */
  readonly maxDays: number;
  readonly log: Log;
}

/** The event log and what keeps it small. */
export interface EventServices {
  readonly eventLog: EventLog;
  /** Writes that the configuration was read again, and which keys are others than at the start. */
  reloaded(keys: readonly string[]): void;
  /** Writes that the program stopped; before the database is closed, and after all else is. */
  close(): Promise<void>;
}

const DAY = 24 * 60 * 60_000;

/**
 * Puts the readers of the event log together, and writes that the program started.
 *
 * @throws what the database throws
 */
export async function openEvents(options: EventServicesOptions): Promise<EventServices> {
  const { database, scheduler, version, maxEvents, maxDays, log } = options;
  const retention = new Retention({ database, scheduler, maxEvents, maxAge: maxDays * DAY, log });
  const eventLog = await EventLog.open({ database, scheduler, log });
  const note = (event: ReturnType<typeof newEvent>) =>
    database.commit({ events: [event] }).catch((error: unknown) => {
      log.warn("The event log cannot be written", { error });
    });
  note(newEvent("program.started", { version }, SYSTEM, scheduler.now()));
  retention.start();
  return {
    eventLog,
    reloaded(keys) {
      note(newEvent("program.reloaded", { keys }, SYSTEM, scheduler.now()));
    },
    async close() {
      await retention.stop();
      eventLog.close();
      await note(newEvent("program.stopped", {}, SYSTEM, scheduler.now()));
    },
  };
}
