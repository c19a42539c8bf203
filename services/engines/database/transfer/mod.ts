/** Copies the app database from SQLite to PostgreSQL and back. */
import { DatabaseSync } from "node:sqlite";
import { configureConnection } from "../writer.ts";
import { DatabaseError, migrate } from "../migrate.ts";
import { reasonOf, shownUrl } from "../postgres/connection.ts";
import { migratePostgres } from "../postgres/migrate.ts";
import { WritingSession } from "../postgres/session.ts";
import type { PostgresSettings } from "../postgres/settings.ts";
import { copy, type TransferReport } from "./copy.ts";
import { PostgresEnd } from "./postgres_end.ts";
import { SqliteEnd } from "./sqlite_end.ts";
import { tablesOf } from "./table.ts";

export type { TransferReport } from "./copy.ts";

export interface TransferOptions {
  /** The SQLite file. */
  readonly file: string;
  readonly postgres: PostgresSettings;
  /** Called with the number of rows that were copied or compared, and of those to come. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Copies a SQLite file to a database of PostgreSQL, in one transaction. Both are migrated to the
 * current schema first.
 *
 * @throws DatabaseError if one cannot be used, or the database has rows already
 */
export function copyToPostgres(options: TransferOptions): Promise<TransferReport> {
  return withBoth(options, async ({ sqlite, postgres, tables, shown }) =>
    await copy(tables, {
      source: sqlite,
      target: postgres,
      targetName: `The database "${shown}"`,
      onProgress: options.onProgress ?? (() => {}),
    }));
}

/**
 * Copies a database of PostgreSQL to a SQLite file, in one transaction. The file is made if it does
 * not exist.
 *
 * @throws DatabaseError if one cannot be used, or the file has rows already
 */
export function copyToSqlite(options: TransferOptions): Promise<TransferReport> {
  return withBoth(options, async ({ sqlite, postgres, tables }) =>
    await copy(tables, {
      source: postgres,
      target: sqlite,
      targetName: `The file "${options.file}"`,
      onProgress: options.onProgress ?? (() => {}),
    }));
}

interface Both {
  readonly sqlite: SqliteEnd;
  readonly postgres: PostgresEnd;
  readonly tables: ReturnType<typeof tablesOf>;
  /** The URL without its password. */
  readonly shown: string;
}

/** Opens both databases, which no other program may use meanwhile. */
async function withBoth(
  { file, postgres }: TransferOptions,
  run: (both: Both) => Promise<TransferReport>,
): Promise<TransferReport> {
  const session = await WritingSession.open(postgres, null);
  let database: DatabaseSync | null = null;
  try {
    migrate(file);
    await migratePostgres(session, postgres.url);
    database = new DatabaseSync(file);
    configureConnection(database);
    const tables = tablesOf(database);
    const [sqlite, theirs] = [new SqliteEnd(database), new PostgresEnd(session)];
    return await run({ sqlite, postgres: theirs, tables, shown: shownUrl(postgres.url) });
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    throw new DatabaseError(`The database cannot be copied: ${reasonOf(error)}`);
  } finally {
    database?.close();
    await session.close();
  }
}
