import { syncFolder, writeSynced } from "../../kernel/files.ts";
import type { Config, DataFolder } from "../config/mod.ts";
import {
  type Database,
  DatabaseError,
  type JournalKey,
  openPostgres,
  openSqlite,
  readPostgresSettings,
  statement,
} from "../../engines/database/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { SharedThread } from "../../kernel/threads/mod.ts";

/** The app database, if it is a SQLite file. */
export const SQLITE_FILE = "muster.db";

export interface AppDatabaseOptions {
  readonly config: Pick<Config, "database" | "node">;
  readonly folder: DataFolder;
  readonly journalKey: JournalKey;
  /** The thread that writes, if the database is a SQLite file. */
  readonly thread: SharedThread<"database" | "history">;
  readonly scheduler: Scheduler;
}

/**
 * Opens the app database that the configuration names.
 *
 * @throws DatabaseError if it cannot be used, or does not belong to the data folder
 */
export async function openAppDatabase(options: AppDatabaseOptions): Promise<Database> {
  const { config, folder, journalKey, thread, scheduler } = options;
  const settings = await readPostgresSettings(config.database);
  const paired = readPairing(folder);
  if (settings === null) {
    if (paired !== null) {
      throw new DatabaseError(
        `The accounts and projects of the data folder "${folder.path}" are in PostgreSQL: set ` +
          "database.url",
      );
    }
    return openSqlite(folder.file(SQLITE_FILE), { journalKey, thread });
  }
  if (paired === null && folder.has(SQLITE_FILE)) {
    throw new DatabaseError(
      `The data folder "${folder.path}" has its database in "${SQLITE_FILE}": copy it to ` +
        "PostgreSQL with muster migrate, or clear database.url",
    );
  }
  const node = config.node.name;
  const database = await openPostgres({
    url: settings.url,
    password: settings.password,
    journalKey,
    ...node === "" ? {} : { cluster: { node, scheduler } },
  });
  try {
    await pair(database, folder, paired);
    if (node !== "") await settleProjects(database, node);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Ties a data folder to its database: each has what the other one needs. */
async function pair(database: Database, folder: DataFolder, paired: string | null): Promise<void> {
  const { id } = await database.tables.selectFrom("instance").select("id")
    .executeTakeFirstOrThrow();
  if (paired === id) return;
  if (paired !== null) {
    throw new DatabaseError(
      `The data folder "${folder.path}" belongs to another database than database.url names`,
    );
  }
  const { projects } = await database.tables.selectFrom("projects").where("home", "is", null)
    .select(({ fn }) => fn.countAll<number>().as("projects")).executeTakeFirstOrThrow();
  if (projects > 0) {
    throw new DatabaseError(
      `The database that database.url names belongs to another data folder than ` +
        `"${folder.path}": it has projects whose repositories are not there`,
    );
  }
  await writePairing(folder, id);
}

/** Projects from the time before there were nodes are on the node with their data folder. */
async function settleProjects(database: Database, node: string): Promise<void> {
  const settling = database.tables.updateTable("projects").set({ home: node })
    .where("home", "is", null);
  await database.commit({ statements: [statement(settling)] });
}

/** Names the database of PostgreSQL that belongs to the data folder, by its instance. */
const PAIRING_FILE = "postgres";

/** The instance of the database that belongs to a data folder; null if that is a SQLite file. */
export function readPairing(folder: DataFolder): string | null {
  try {
    return Deno.readTextFileSync(folder.file(PAIRING_FILE)).trim();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Ties a data folder to a database of PostgreSQL, on disk. */
export async function writePairing(folder: DataFolder, instance: string): Promise<void> {
  await writeSynced(folder.file(PAIRING_FILE), `${instance}\n`);
  await syncFolder(folder.path);
}

/** Lets the database of a data folder be a SQLite file again. */
export function removePairing(folder: DataFolder): void {
  Deno.removeSync(folder.file(PAIRING_FILE));
}
