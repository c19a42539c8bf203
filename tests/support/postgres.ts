/**
 * Databases of tests in PostgreSQL, each made for a folder. `scripts/test_postgres` runs tests with a
 * server: `MUSTER_TEST_POSTGRES` names it to the tests that are about PostgreSQL. With
 * `MUSTER_TEST_DATABASE`, the app database of every test is in it; otherwise, they use SQLite.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
// @ts-types="../../services/engines/database/postgres/pg.d.ts"
import pg from "pg";
import { postgresSql } from "../../services/engines/database/migration.ts";
import { MIGRATIONS } from "../../services/engines/database/migrations.ts";
import { openPostgres } from "../../services/engines/database/mod.ts";
import { postgresServer } from "./peers.ts";

/** Whether the app database of every test is in PostgreSQL. */
export const EVERYWHERE: boolean = Deno.env.has("MUSTER_TEST_DATABASE");

/** The URL of a database whose user may create others; "" if there is none. */
const SERVER = postgresServer();

/** Serialises the programs that make the same template. */
const TEMPLATE_LOCK = 4_711_017;

/** Databases that this isolate has made and not dropped, with the folder for which each was made. */
const made = new Map<string, string>();

/** The file in a folder that names its database, so that the two move together. */
const NAME_FILE = "test_database";

/** The URL of a folder's app database, if tests keep it in PostgreSQL; "" if in SQLite. */
export async function databaseOf(folder: string): Promise<string> {
  return EVERYWHERE ? await postgresOf(folder) : "";
}

/** The URL of the database of PostgreSQL that belongs to a folder. It is made if there is none. */
export async function postgresOf(folder: string): Promise<string> {
  const file = join(folder, NAME_FILE);
  const known = await Deno.readTextFile(file).catch(() => null);
  if (known !== null) return urlOf(known);
  const name = `muster_test_${crypto.randomUUID().replaceAll("-", "")}`;
  // A copy of files costs half as much as one by way of the log, the default.
  const origin = `TEMPLATE "${await madeTemplate()}" STRATEGY FILE_COPY`;
  await query(SERVER, `CREATE DATABASE "${name}" ${origin}`);
  made.set(name, folder);
  await query(urlOf(name), "UPDATE instance SET id = left(md5(gen_random_uuid()::text), 20)");
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(file, name);
  return urlOf(name);
}

/** Drops the databases that were made for a folder and for those in it. */
export async function dropDatabasesOf(folder: string): Promise<void> {
  for (const [name, owner] of made) {
    if (!`${owner}/`.startsWith(`${folder}/`)) continue;
    made.delete(name);
    await query(SERVER, `DROP DATABASE "${name}" WITH (FORCE)`);
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

/**
 * Lets the leases of nodes last an hour, for tests whose nodes have a clock that stands still: theirs
 * would not end, but by the clock of PostgreSQL they would. Call it once a node has opened the
 * database. A test ends a lease with `expires_at = 0`.
 */
export async function holdLeases(url: string): Promise<void> {
  await query(url, HOLD_LEASES);
}

const HOLD_LEASES = `
  CREATE FUNCTION hold_lease() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.expires_at := NEW.expires_at + 3600000;
      RETURN NEW;
    END
  $$;
  CREATE TRIGGER hold_lease BEFORE INSERT OR UPDATE ON leases
    FOR EACH ROW WHEN (NEW.expires_at > 0) EXECUTE FUNCTION hold_lease();
  CREATE TRIGGER hold_lease BEFORE INSERT OR UPDATE ON leaders
    FOR EACH ROW WHEN (NEW.expires_at > 0) EXECUTE FUNCTION hold_lease();
  UPDATE leases SET expires_at = expires_at;
`;

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

function urlOf(name: string): string {
  const parsed = new URL(SERVER);
  parsed.pathname = `/${name}`;
  return parsed.href;
}

/** A migrated database to copy, named after its schema. */
let template: Promise<string> | null = null;

function madeTemplate(): Promise<string> {
  return template ??= makeTemplate();
}

async function makeTemplate(): Promise<string> {
  const sql = MIGRATIONS.map(postgresSql).join("\n");
  const name = `muster_template_${createHash("sha256").update(sql).digest("hex").slice(0, 16)}`;
  const client = new pg.Client({ connectionString: SERVER });
  await client.connect();
  try {
    await client.query("SELECT pg_advisory_lock($1)", [TEMPLATE_LOCK]);
    const found = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [name]);
    if (found.rowCount === 0) {
      const draft = `${name}_draft`;
      await client.query(`DROP DATABASE IF EXISTS "${draft}" WITH (FORCE)`);
      await client.query(`CREATE DATABASE "${draft}"`);
      const database = await openPostgres({ url: urlOf(draft), password: null });
      await database.close();
      await client.query(`ALTER DATABASE "${draft}" RENAME TO "${name}"`);
    }
    return name;
  } finally {
    await client.end();
  }
}
