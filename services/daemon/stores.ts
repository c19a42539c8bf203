import type { Config } from "../config/mod.ts";
import { DataFolder } from "../data_folder.ts";
import { Database } from "../database/mod.ts";
import { openEvents } from "../events/mod.ts";
import { type IdentityRoom, openIdentity, openKeyFile } from "../identity/mod.ts";
import type { Log } from "../log.ts";
import { type Scheduler, systemScheduler } from "../scheduler.ts";
import { VERSION } from "../version.ts";
import type { DaemonOptions } from "./options.ts";

/** What outlives the process, and who is known: the ground that all other services stand on. */
export interface Stores {
  readonly config: Config;
  readonly log: Log;
  readonly scheduler: Scheduler;
  readonly database: Database;
  readonly events: ReturnType<typeof openEvents>;
  readonly room: IdentityRoom;
  /** The secret behind users' visible hosts, kept so that a ban on one outlives a restart. */
  readonly cloakKey: Uint8Array;
}

/**
 * Takes the data folder and opens what is in it. Each part is put on the stack that closes it.
 *
 * @throws DataFolderError, DatabaseError, SecretFileError where the folder cannot be used
 */
export async function openStores(
  { config, log, pinnedToken, clock = Date.now }: DaemonOptions,
  started: AsyncDisposableStack,
): Promise<Stores> {
  const folder = DataFolder.open(config.data_dir);
  started.defer(() => folder.close());
  const [journalKey, cloak] = await Promise.all([
    openKeyFile(folder.file("event_key")),
    openKeyFile(folder.file("cloak_key")),
  ]);
  const database = new Database(folder.file("muster.db"), { journalKey });
  started.defer(() => database.close());
  const scheduler = { ...systemScheduler, now: clock };
  const events = openEvents({
    ...{ database, scheduler, log, version: VERSION },
    maxEvents: config.events.max_events,
    maxDays: config.events.max_days,
  });
  started.defer(() => events.close());
  const room = await openIdentity({
    ...{ database, pinnedToken, scheduler, log },
    folder: folder.path,
    bridgeNick: config.bridge.nick,
    adminsEnabled: config.admins.enabled,
    ...loginLimits(config),
  });
  started.defer(() => room.close());
  const cloakKey = new TextEncoder().encode(cloak.key);
  return { config, log, scheduler, database, events, room, cloakKey };
}

/** How many wrong passwords, and how many logins to the web pages, within which time. */
export function loginLimits({ limits }: Config): { attempts: number; window: number } {
  return { attempts: limits.login_attempts, window: limits.login_window_minutes * 60_000 };
}
