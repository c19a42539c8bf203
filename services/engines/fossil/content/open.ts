import { FossilError } from "../error.ts";
import { Config } from "./config.ts";
import { Database } from "./database.ts";
import { connectReadOnly } from "./read_only.ts";
import {
  AUX_SCHEMA,
  CONTENT_SCHEMA,
  DERIVED_TABLES,
  OLDEST_AUX_SCHEMA,
  PERMANENT_TABLES,
} from "./schema.ts";

/** Tables that every repository has. */
const REQUIRED = ["blob", "delta", "rcvfrom", "user", "config", "mlink", "plink"];

/** Whether the derived tables have the current layout, or need a rebuild first. */
export type SchemaState = "current" | "needs-rebuild";

/** How to open a repository file. */
export interface AccessOptions {
  /** Changes nothing; also works in a folder that cannot be written. */
  readonly readOnly?: boolean;
  /**
   * Uses a write-ahead log, so that others can read during a write, and leaves the file in that
   * journal mode. The default is true; false keeps the journal mode of the file.
   */
  readonly writeAheadLog?: boolean;
}

/** An opened repository file. */
export interface OpenedDatabase {
  readonly db: Database;
  readonly config: Config;
  readonly schema: SchemaState;
}

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string | null;
}

/**
 * Opens an existing repository. The file is not trusted: its tables must be plain tables without
 * triggers, so that our statements run no code from the file.
 *
 * @throws {FossilError} `unsupported` if the file is not a repository, has an unknown layout, or
 * has triggers, or views instead of tables.
 */
export function openDatabase(path: string, options: AccessOptions = {}): OpenedDatabase {
  requireFile(path);
  const db = connect(path, options);
  try {
    checkSchema(db, path);
    const config = new Config(db);
    const schema = schemaState(config, path);
    if (options.readOnly !== true) prepareToWrite(db, options);
    return { db, config, schema };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** SQLite would create an empty database if the file does not exist. */
function requireFile(path: string): void {
  try {
    if (Deno.statSync(path).isFile) return;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  throw new FossilError("unsupported", `"${path}" is not a file`);
}

function connect(path: string, { readOnly = false }: AccessOptions): Database {
  try {
    return readOnly ? connectReadOnly(path) : new Database(path);
  } catch (cause) {
    if (!(cause instanceof Error) || !/not a database/.test(cause.message)) throw cause;
    throw new FossilError("unsupported", `"${path}" is not an SQLite database`, { cause });
  }
}

/** Makes every commit durable, in the journal mode that the options ask for. */
export function prepareToWrite(db: Database, { writeAheadLog = true }: AccessOptions): void {
  if (writeAheadLog) db.useWriteAheadLog();
  else db.makeDurable();
}

function checkSchema(db: Database, path: string): void {
  const rows = db.rows<SchemaRow>("SELECT type, name, tbl_name, sql FROM sqlite_schema");
  const tables = new Set(rows.filter((row) => row.type === "table").map((row) => row.name));
  for (const table of REQUIRED) {
    if (!tables.has(table)) throw new FossilError("unsupported", `"${path}" is not a repository`);
  }
  const ours = new Set([...PERMANENT_TABLES, ...DERIVED_TABLES]);
  for (const { type, name, tbl_name, sql } of rows) {
    const table = tbl_name.toLowerCase();
    if (!ours.has(table) && !table.startsWith("fx_")) continue;
    if (type === "trigger") refuse(path, `table "${table}" has the trigger "${name}"`);
    if (type === "view") refuse(path, `"${name}" is a view`);
    if (/^create\s+virtual/i.test(sql ?? "")) refuse(path, `"${name}" is a virtual table`);
    if (type === "table") refuseComputed(db, { path, name });
  }
}

/** A computed column may take any memory, at each read. */
function refuseComputed(db: Database, { path, name }: { path: string; name: string }): void {
  const computed = db.row<{ name: string }>(
    "SELECT name FROM pragma_table_xinfo(?) WHERE hidden<>0",
    name,
  );
  if (computed !== undefined) refuse(path, `column "${computed.name}" of "${name}" is computed`);
}

function refuse(path: string, reason: string): never {
  throw new FossilError("unsupported", `Cannot open "${path}": ${reason}`);
}

function schemaState(config: Config, path: string): SchemaState {
  const content = config.get("content-schema") ?? CONTENT_SCHEMA;
  if (content !== CONTENT_SCHEMA) refuse(path, `content schema "${content}" is unknown`);
  const derived = config.get("aux-schema") ?? "";
  if (derived > AUX_SCHEMA) refuse(path, `schema "${derived}" is newer than this engine`);
  if (derived !== "" && derived < OLDEST_AUX_SCHEMA) refuse(path, `schema "${derived}" is too old`);
  return derived === AUX_SCHEMA ? "current" : "needs-rebuild";
}
