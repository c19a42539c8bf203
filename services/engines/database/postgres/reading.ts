import {
  HandleEmptyInListsPlugin,
  Kysely,
  PostgresDialect,
  replaceWithNoncontingentExpression,
  sql,
} from "kysely";
// @ts-types="./pg.d.ts"
import pg from "pg";
import { DatabaseError } from "../migrate.ts";
import type { Tables } from "../schema.ts";
import { clientOptions, reasonOf, requireServing, shownUrl } from "./connection.ts";
import type { PostgresSettings } from "./settings.ts";
import { ReadingPool } from "./reading_pool.ts";

/** What a database of PostgreSQL holds. */
export interface PostgresContent {
  /** The version of its schema; 0 if it has none yet. */
  readonly version: number;
  readonly tables: Kysely<Tables>;
}

/**
 * Reads from a database that a server may use.
 *
 * @throws DatabaseError if the database cannot be reached
 */
export async function readPostgres<Result>(
  settings: PostgresSettings,
  read: (found: PostgresContent) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client(clientOptions(settings));
  client.on("error", () => {});
  try {
    await client.connect();
    await requireServing(client, settings.url);
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    const shown = shownUrl(settings.url);
    throw new DatabaseError(`The database "${shown}" cannot be opened: ${reasonOf(error)}`);
  } finally {
    await client.end().catch(() => {});
  }
  const tables = postgresTables(settings);
  try {
    return await read({ version: await versionOf(tables), tables });
  } finally {
    await tables.destroy();
  }
}

async function versionOf(tables: Kysely<Tables>): Promise<number> {
  const exists = await sql<{ exists: number }>`
    SELECT to_regclass('schema_version') IS NOT NULL AS exists
  `.execute(tables);
  if (exists.rows[0]?.exists !== 1) return 0;
  const { rows: [row] } = await sql<{ version: number }>`SELECT version FROM schema_version`
    .execute(tables);
  return row?.version ?? 0;
}

/** Builds queries for PostgreSQL, and executes those that read. */
export function postgresTables(settings: PostgresSettings): Kysely<Tables> {
  const pool = new ReadingPool(settings);
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    // SQLite finds nothing in an empty list, and PostgreSQL would refuse it.
    plugins: [new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })],
  });
}
