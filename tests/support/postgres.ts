/**
 * The app database of tests in PostgreSQL. `MUSTER_TEST_DATABASE` is the URL of a database whose user
 * may create others; without it, tests use SQLite.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";
// @ts-types="npm:@types/pg@8.23.1"
import pg from "pg";
import { postgresSql } from "../../services/database/migration.ts";
import { MIGRATIONS } from "../../services/database/migrations.ts";
import { openPostgres } from "../../services/database/mod.ts";

/** The URL of the database that makes those of tests; undefined if tests use SQLite. */
export const TEST_DATABASE = Deno.env.get("MUSTER_TEST_DATABASE");

/** Serialises the programs that make the same template. */
const TEMPLATE_LOCK = 4_711_017;

/** Databases that this isolate has made and not dropped. */
const made = new Set<string>();

/**
 * The URL of the database that belongs to a folder, which is made if there is none.
 *
 * @returns undefined if tests use SQLite
 */
export async function databaseOf(folder: string): Promise<string | undefined> {
  if (TEST_DATABASE === undefined) return undefined;
  const name = nameOf(folder);
  if (!made.has(name)) {
    const template = await withTemplate(TEST_DATABASE);
    await administer(TEST_DATABASE, `CREATE DATABASE "${name}" TEMPLATE "${template}"`);
    const instance = "UPDATE instance SET id = left(md5(gen_random_uuid()::text), 20)";
    await administer(urlOf(TEST_DATABASE, name), instance);
    made.add(name);
  }
  return urlOf(TEST_DATABASE, name);
}

/** Drops the database of a folder, if it has one. */
export async function dropDatabaseOf(folder: string): Promise<void> {
  if (TEST_DATABASE === undefined || !made.delete(nameOf(folder))) return;
  await administer(TEST_DATABASE, `DROP DATABASE "${nameOf(folder)}" WITH (FORCE)`);
}

/** Runs SQL in the database of a folder, as somebody behind the program's back would. */
export async function queryDatabaseOf(
  folder: string,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<{ rows: Record<string, unknown>[]; changed: number }> {
  const { rows, rowCount } = await asked(await databaseOf(folder) ?? "", sql, parameters);
  return { rows, changed: rowCount ?? 0 };
}

function nameOf(folder: string): string {
  return `muster_test_${basename(folder)}`;
}

function urlOf(url: string, name: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${name}`;
  return parsed.href;
}

/** A migrated database to copy, named after its schema. */
let template: Promise<string> | null = null;

function withTemplate(url: string): Promise<string> {
  return template ??= makeTemplate(url);
}

async function makeTemplate(url: string): Promise<string> {
  const sql = MIGRATIONS.map(postgresSql).join("\n");
  const name = `muster_template_${createHash("sha256").update(sql).digest("hex").slice(0, 16)}`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("SELECT pg_advisory_lock($1)", [TEMPLATE_LOCK]);
    const found = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [name]);
    if (found.rowCount === 0) {
      const draft = `${name}_draft`;
      await client.query(`DROP DATABASE IF EXISTS "${draft}" WITH (FORCE)`);
      await client.query(`CREATE DATABASE "${draft}"`);
      const database = await openPostgres({ url: urlOf(url, draft), password: null });
      await database.close();
      await client.query(`ALTER DATABASE "${draft}" RENAME TO "${name}"`);
    }
    return name;
  } finally {
    await client.end();
  }
}

async function administer(url: string, sql: string): Promise<void> {
  await asked(url, sql, []);
}

async function asked(url: string, sql: string, parameters: readonly unknown[]) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(sql, [...parameters]);
  } finally {
    await client.end();
  }
}
