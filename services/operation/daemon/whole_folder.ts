import { basename, dirname, join } from "node:path";
import type { Config, DataFolder } from "../config/mod.ts";
import { DatabaseError, readPostgres, readPostgresSettings } from "../../engines/database/mod.ts";
import { readDatabase } from "../../engines/database/sqlite/mod.ts";
import { readPairing, SQLITE_FILE } from "./app_database.ts";

/** A SQLite file of this size or less has at most its head: its tables are in its log, or nowhere. */
const ONE_PAGE = 4096;

/** The size of a write-ahead log without content. */
const LOG_HEAD = 32;

const HISTORY_FILE = "history.db";
const JOURNALS = ["history.journal1", "history.journal2"] as const;

/** What to do where data are missing that nobody can make again. */
const WAY_OUT = "put it back, or restore a backup (muster restore BACKUP --replace); to begin " +
  "without these data, name an empty data_dir";

/** What a database holds that is of no use without a key. */
interface Sealed {
  readonly events: boolean;
  readonly accounts: boolean;
}

/**
 * Refuses to begin anew where other files of the data folder tell that there were data. What the
 * first start makes before its database proves nothing: the start may have been cut off.
 *
 * @throws DatabaseError that says what is missing, what tells so, and the way out
 */
export async function requireWhole(
  folder: DataFolder,
  { database, node, projects }: Pick<Config, "database" | "node" | "projects">,
): Promise<void> {
  requireLog(folder.file(HISTORY_FILE));
  requireFile(folder, HISTORY_FILE, JOURNALS);
  requireJournals(folder);
  for (const path of repositoryIndexes(projects.dir || folder.file("projects"))) requireLog(path);
  const settings = await readPostgresSettings(database);
  if (settings === null) {
    if (readPairing(folder) !== null) return;
    requireLog(folder.file(SQLITE_FILE));
    requireFile(folder, SQLITE_FILE, []);
    if (!hasTables(folder.file(SQLITE_FILE))) {
      const trace = traceIn(folder, projects.dir);
      if (trace !== null) throw lacking(folder, SQLITE_FILE, trace);
      return;
    }
    return await requireKeys(
      folder,
      () => Promise.resolve(sealedInSqlite(folder.file(SQLITE_FILE))),
    );
  }
  const repository = repositoryIn(projects.dir || folder.file("projects"));
  if (readPairing(folder) === null && repository !== null && !folder.has(SQLITE_FILE)) {
    throw lacking(
      folder,
      "postgres",
      `the repository "${repository}" is there, of another database`,
    );
  }
  // Those of nodes are compared with those of the other nodes.
  if (node.name !== "") return;
  await requireKeys(folder, () =>
    readPostgres(settings, async ({ version, tables }) => {
      if (version === 0) return { events: false, accounts: false };
      const events = await tables.selectFrom("checkpoints").select("name").executeTakeFirst();
      const accounts = await tables.selectFrom("accounts").select("id").executeTakeFirst();
      return { events: events !== undefined, accounts: accounts !== undefined };
    }));
}

/**
 * SQLite removes a write-ahead log after its index. So an index alone tells that somebody took the
 * log away, with what was committed last.
 *
 * @throws DatabaseError
 */
function requireLog(path: string): void {
  if (sizeOf(`${path}-shm`) === null || sizeOf(`${path}-wal`) !== null) return;
  const [folder, name] = [dirname(path), basename(path)];
  throw new DatabaseError(
    `The folder "${folder}" lacks "${name}-wal", but its index "${name}-shm" is there: ` +
      "put the log back, which holds what was written last, or restore a backup (muster restore " +
      "BACKUP --replace); to go on without what it held, remove the index",
  );
}

/**
 * A database is not empty while its write-ahead log has content, or one of these files.
 *
 * @throws DatabaseError
 */
function requireFile(folder: DataFolder, name: string, others: readonly string[]): void {
  const size = sizeOf(folder.file(name));
  if ((size ?? 0) > 0) return;
  const log = `${name}-wal`;
  if ((sizeOf(folder.file(log)) ?? 0) > LOG_HEAD) throw lacking(folder, name, `"${log}" is there`);
  // An empty journal tells of a database that was there; beside an empty one, both are new.
  const least = size === null ? 0 : 1;
  const left = others.find((one) => (sizeOf(folder.file(one)) ?? -1) >= least);
  if (left !== undefined) throw lacking(folder, name, `"${left}" is there`);
}

/**
 * A history has its two journals for as long as it is open, and a kill leaves them beside it. An
 * empty one proves nothing: so are both of a server at rest.
 *
 * @throws DatabaseError
 */
function requireJournals(folder: DataFolder): void {
  const path = folder.file(HISTORY_FILE);
  // What only reads a history, such as a backup's verification, leaves an empty log.
  if ((sizeOf(`${path}-wal`) ?? 0) <= LOG_HEAD) return;
  const missing = JOURNALS.find((name) => !folder.has(name));
  if (missing === undefined || !hasJournal(path)) return;
  throw new DatabaseError(
    `The data folder "${folder.path}" lacks "${missing}", but "${HISTORY_FILE}-wal" tells that the ` +
      "server was killed, which leaves it: put it back, because it may hold the last messages, or " +
      "restore a backup (muster restore BACKUP --replace); to go on without them, make an empty file " +
      "of this name",
  );
}

/** Whether a history has had a journal with an identity. The opening says what is wrong with it. */
function hasJournal(path: string): boolean {
  try {
    return readDatabase(path, (database) => {
      const journal = database.prepare("SELECT journal FROM last_change").get()?.["journal"];
      return typeof journal === "string" && !journal.startsWith("first-");
    }, true);
  } catch {
    return false;
  }
}

/** The paths of the repositories in a folder whose write-ahead log has an index. */
function repositoryIndexes(folder: string): readonly string[] {
  const ending = "-shm";
  return namesIn(folder).filter((name) => name.endsWith(`.fossil${ending}`))
    .map((name) => join(folder, name.slice(0, -ending.length)));
}

/** Whether a database has tables, in its file or its log. */
function hasTables(path: string): boolean {
  return (sizeOf(path) ?? 0) > ONE_PAGE || (sizeOf(`${path}-wal`) ?? 0) > LOG_HEAD;
}

/** What tells that there was a database, in words; null if nothing does. */
function traceIn(folder: DataFolder, projects: string): string | null {
  // It is made once the database is.
  if (folder.has("token_key")) return 'the "token_key" of earlier data is there';
  const repository = repositoryIn(projects || folder.file("projects"));
  return repository === null ? null : `the repository "${repository}" is there`;
}

/** The path of a repository in a folder; null without one. */
function repositoryIn(folder: string): string | null {
  const name = namesIn(folder).find((name) => name.endsWith(".fossil"));
  return name === undefined ? null : join(folder, name);
}

/** The names in a folder; none if there is no such folder. */
function namesIn(folder: string): readonly string[] {
  try {
    return Array.from(Deno.readDirSync(folder), ({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** What goes with a key: what the database has then, and what a new key ends. */
const KEYS = {
  event_key: {
    needs: "the database has an event log that it seals",
    loss: "the log then says that it was changed",
  },
  token_key: {
    needs: "the database has accounts, whose tokens and secrets depend on it",
    loss: "then all tokens end",
  },
  cloak_key: {
    needs: "the database has been in use, and bans of IRC hosts and keys of channels depend on it",
    loss: "these bans then match nobody, and nobody can join a channel with a key",
  },
} as const;

/** @throws DatabaseError if a key is missing without which a part of the database is of no use */
async function requireKeys(folder: DataFolder, read: () => Promise<Sealed>): Promise<void> {
  const missing = (["event_key", "token_key", "cloak_key"] as const).filter((name) =>
    !folder.has(name)
  );
  if (missing.length === 0) return;
  const { events, accounts } = await read();
  for (const name of missing) {
    // The key of cloaks is there before the first event.
    if (name === "token_key" ? !accounts : !events) continue;
    const { needs, loss } = KEYS[name];
    throw new DatabaseError(
      `The data folder "${folder.path}" lacks the file "${name}", but ${needs}: put it back, or ` +
        `restore it from a backup; if it is lost, make a new one (openssl rand -hex 32 >${name}): ` +
        loss,
    );
  }
}

function sealedInSqlite(path: string): Sealed {
  return readDatabase(path, (database) => {
    const has = (table: string) =>
      database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(table) !== undefined &&
      database.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined;
    return { events: has("checkpoints"), accounts: has("accounts") };
  });
}

function lacking(folder: DataFolder, name: string, trace: string): DatabaseError {
  return new DatabaseError(
    `The data folder "${folder.path}" lacks "${name}" or its content, but ${trace}: ${WAY_OUT}`,
  );
}

/** The size of a file; null if there is none. */
function sizeOf(path: string): number | null {
  try {
    const { isFile, size } = Deno.statSync(path);
    // Opening what is no file gives an error that says so.
    return isFile ? size : Infinity;
  } catch {
    return null;
  }
}
