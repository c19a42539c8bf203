import { join } from "node:path";
import {
  type Database,
  type NewEvent,
  openSqlite,
} from "../../../../services/engines/database/mod.ts";
import { EventLog } from "../../../../services/engines/events/mod.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { withFolder } from "../../../support/temporary.ts";

/** The key of the seals in tests. */
export const KEY = "0123456789abcdef".repeat(4);

/** An event log on a database of its own. */
export interface LogWorld {
  readonly path: string;
  readonly database: Database;
  readonly eventLog: EventLog;
  readonly scheduler: TestScheduler;
  /** Writes events of these types, each in a transaction of its own, all at once. */
  append(types: readonly string[]): Promise<void>;
}

/** Runs a test on an event log of its own. */
export async function withLog(run: (world: LogWorld) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const path = join(folder, "muster.db");
    const database = openSqlite(path, { journalKey: { key: KEY, isNew: true } });
    const scheduler = new TestScheduler();
    const eventLog = await EventLog.open({ database, scheduler, log: silentLog });
    const append = async (types: readonly string[]) => {
      await Promise.all(types.map((type) => database.commit({ events: [anEvent(type)] })));
      // The log has read them after the answer of a writer that has a thread of its own.
      await new Promise((resolve) => setTimeout(resolve, 0));
    };
    try {
      await run({ path, database, eventLog, scheduler, append });
    } finally {
      eventLog.close();
      await database.close();
    }
  });
}

export function anEvent(type: string, time = 1_700_000_000_000): NewEvent {
  const who = { actor: "agent:scout", actorId: "01ABC", address: "192.0.2.1", cause: "r-1" };
  return { time, type, ...who, data: { note: `über ${type}` } };
}

/** So many types that differ. */
export function types(count: number, prefix = "test.t"): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}
