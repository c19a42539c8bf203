import { join } from "node:path";
import type { DataFolder } from "../config/mod.ts";
import {
  copyToPostgres,
  copyToSqlite,
  DatabaseError,
  type LogReport,
  type PostgresSettings,
  readPostgres,
  type TransferReport,
  verifyLog,
  verifyPostgresLog,
} from "../../engines/database/mod.ts";
import { fileStamp, renameSynced } from "../../kernel/files.ts";
import { readKeyFile } from "../../people/identity/mod.ts";
import { readPairing, removePairing, SQLITE_FILE, writePairing } from "./app_database.ts";

export interface MoveOptions {
  /** The data folder, which nobody else uses. */
  readonly folder: DataFolder;
  readonly postgres: PostgresSettings;
  /** Now, in Unix milliseconds. */
  readonly now: number;
  readonly onProgress: (done: number, total: number) => void;
}

/** What was moved. */
export interface MoveReport extends TransferReport {
  /** The check of the event log, which had the same result before and after. */
  readonly log: LogReport;
  /** Where the SQLite file is now. */
  readonly file: string;
}

/**
 * Moves the app database of a data folder from its SQLite file to PostgreSQL. The file stays, under
 * another name.
 *
 * @throws DatabaseError if the folder has no such file, or PostgreSQL cannot be used or has rows
 */
export async function moveToPostgres(options: MoveOptions): Promise<MoveReport> {
  const { folder, postgres, now, onProgress } = options;
  const file = folder.file(SQLITE_FILE);
  if (readPairing(folder) !== null) {
    throw new DatabaseError(`The database of "${folder.path}" is in PostgreSQL already`);
  }
  if (!folder.has(SQLITE_FILE)) throw new DatabaseError(`There is no database at "${file}"`);
  const copied = await copyToPostgres({ file, postgres, onProgress });
  const log = await compareLogs({ folder, postgres, file });
  const instance = await readPostgres(
    postgres,
    ({ tables }) => tables.selectFrom("instance").select("id").executeTakeFirstOrThrow(),
  );
  // In this order: if the program ends in between, a start finds the database that is tied to it.
  await writePairing(folder, instance.id);
  const kept = `${file}.moved-${fileStamp(now)}`;
  await renameSynced(file, kept);
  return { ...copied, log, file: kept };
}

/**
 * Moves the app database of a data folder from PostgreSQL to a SQLite file. The database stays as
 * it is.
 *
 * @throws DatabaseError if PostgreSQL cannot be used, or the folder belongs to another database
 */
export async function moveToSqlite(options: MoveOptions): Promise<MoveReport> {
  const { folder, postgres, onProgress } = options;
  const file = folder.file(SQLITE_FILE);
  await requirePaired(folder, postgres);
  if (folder.has(SQLITE_FILE)) {
    throw new DatabaseError(`Move "${file}" away first: it would be overwritten`);
  }
  const draft = `${SQLITE_FILE}.draft`;
  removeDraft(folder, draft);
  try {
    const copied = await copyToSqlite({ file: folder.file(draft), postgres, onProgress });
    const log = await compareLogs({ folder, postgres, file: folder.file(draft) });
    await renameSynced(folder.file(draft), file);
    removePairing(folder);
    return { ...copied, log, file };
  } finally {
    removeDraft(folder, draft);
  }
}

/** @throws DatabaseError if the data folder belongs to no database, or to another one */
async function requirePaired(folder: DataFolder, postgres: PostgresSettings): Promise<void> {
  const paired = readPairing(folder);
  if (paired === null) {
    throw new DatabaseError(`The database of "${folder.path}" is not in PostgreSQL`);
  }
  const instance = await readPostgres(postgres, async ({ version, tables }) => {
    if (version === 0) return undefined;
    return await tables.selectFrom("instance").select("id").executeTakeFirst();
  });
  if (instance?.id !== paired) {
    throw new DatabaseError(`The data folder "${folder.path}" belongs to another database`);
  }
}

/** @throws DatabaseError unless the check of both event logs has the same result */
async function compareLogs(
  { folder, postgres, file }: Pick<MoveOptions, "folder" | "postgres"> & { readonly file: string },
): Promise<LogReport> {
  const key = await readKeyFile(join(folder.path, "event_key"));
  const [ours, theirs] = [verifyLog(file, key), await verifyPostgresLog(postgres, key)];
  if (JSON.stringify(ours) !== JSON.stringify(theirs)) {
    throw new DatabaseError(
      "The event log and its copy differ: muster still uses the database that it used before",
    );
  }
  return ours;
}

/** Removes a SQLite file and what SQLite keeps beside it. */
function removeDraft(folder: DataFolder, draft: string): void {
  for (const name of ["", "-wal", "-shm", "-journal"].map((end) => `${draft}${end}`)) {
    if (folder.has(name)) Deno.removeSync(folder.file(name));
  }
}
