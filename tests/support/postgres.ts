/**
 * The app database of tests in PostgreSQL. `MUSTER_TEST_DATABASE` is the URL of a database whose user
 * may create others; without it, tests use SQLite.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
// @ts-types="npm:@types/pg@8.23.1"
import pg from "pg";
import { postgresSql } from "../../services/database/migration.ts";
import { MIGRATIONS } from "../../services/database/migrations.ts";
import { openPostgres } from "../../services/database/mod.ts";

/** The URL of the database that makes those of tests; undefined if tests use SQLite. */
export const TEST_DATABASE = Deno.env.get("MUSTER_TEST_DATABASE");

/** Serialises the programs that make the same template. */
const TEMPLATE_LOCK = 4_711_017;

/** Databases that this isolate has made and not dropped, with the folder for which each was made. */
const made = new Map<string, string>();

/** The file in a folder that names its database, so that the two move together. */
const NAME_FILE = "test_database";

/**
 * The URL of the database that belongs to a folder, which is made if there is none.
 *
 * @returns undefined if tests use SQLite
 */
export async function databaseOf(folder: string): Promise<string | undefined> {
  if (TEST_DATABASE === undefined) return undefined;
  const file = join(folder, NAME_FILE);
  const known = await Deno.readTextFile(file).catch(() => null);
  if (known !== null) return urlOf(TEST_DATABASE, known);
  const name = `muster_test_${crypto.randomUUID().replaceAll("-", "")}`;
  const template = await withTemplate(TEST_DATABASE);
  await administer(TEST_DATABASE, `CREATE DATABASE "${name}" TEMPLATE "${template}"`);
  made.set(name, folder);
  const instance = "UPDATE instance SET id = left(md5(gen_random_uuid()::text), 20)";
  await administer(urlOf(TEST_DATABASE, name), instance);
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(file, name);
  return urlOf(TEST_DATABASE, name);
}

/** Drops the databases that were made for a folder and for those in it. */
export async function dropDatabasesOf(folder: string): Promise<void> {
  for (const [name, owner] of made) {
    if (!`${owner}/`.startsWith(`${folder}/`)) continue;
    made.delete(name);
    await administer(TEST_DATABASE ?? "", `DROP DATABASE "${name}" WITH (FORCE)`);
  }
}

/** Runs SQL in the database at a URL, as somebody behind the program's back would. */
export async function query(
  url: string,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<{ rows: Record<string, unknown>[]; changed: number }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows, rowCount } = await client.query(sql, [...parameters]);
    return { rows, changed: rowCount ?? 0 };
  } finally {
    await client.end();
  }
}

/** Everything in the database at a URL, as text. */
export async function textsOf(url: string): Promise<string> {
  const { rows: tables } = await query(
    url,
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
  );
  const texts = tables.map(async ({ name }) => {
    const { rows } = await query(url, `SELECT whole::text AS text FROM "${name}" AS whole`);
    return rows.map(({ text }) => text).join("\n");
  });
  return (await Promise.all(texts)).join("\n");
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
  await query(url, sql);
}
