import type { Config, DataFolder } from "../config/mod.ts";
import {
  type Database,
  DatabaseError,
  type JournalKey,
  openPostgres,
  openSqlite,
  readPostgresSettings,
} from "../database/mod.ts";
import type { SharedThread } from "../threads/mod.ts";

/** The app database, if it is a SQLite file. */
export const SQLITE_FILE = "muster.db";

/** Names the database of PostgreSQL that belongs to the data folder, by its instance. */
const PAIRING_FILE = "postgres";

export interface AppDatabaseOptions {
  readonly config: Pick<Config, "database">;
  readonly folder: DataFolder;
  readonly journalKey: JournalKey;
  /** The thread that writes, if the database is a SQLite file. */
  readonly thread: SharedThread<"database" | "history">;
}

/**
 * Opens the app database that the configuration names.
 *
 * @throws DatabaseError if it cannot be used, or does not belong to the data folder
 */
export async function openAppDatabase(options: AppDatabaseOptions): Promise<Database> {
  const { config, folder, journalKey, thread } = options;
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
  if (paired === null && exists(folder.file(SQLITE_FILE))) {
    throw new DatabaseError(
      `The data folder "${folder.path}" has its database in "${SQLITE_FILE}", and muster cannot ` +
        "move that to PostgreSQL: clear database.url, or name an empty folder as data_dir",
    );
  }
  const database = await openPostgres({
    url: settings.url,
    password: settings.password,
    journalKey,
  });
  try {
    await pair(database, folder, paired);
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
  const { projects } = await database.tables.selectFrom("projects")
    .select(({ fn }) => fn.countAll<number>().as("projects")).executeTakeFirstOrThrow();
  if (projects > 0) {
    throw new DatabaseError(
      `The database that database.url names belongs to another data folder than ` +
        `"${folder.path}": it has projects whose repositories are not there`,
    );
  }
  await Deno.writeTextFile(folder.file(PAIRING_FILE), `${id}\n`, { mode: 0o600 });
}

function readPairing(folder: DataFolder): string | null {
  try {
    return Deno.readTextFileSync(folder.file(PAIRING_FILE)).trim();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
