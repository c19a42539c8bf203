import type { Database } from "./database.ts";

/** Columns that tables of old repositories lack. */
const ADDED_COLUMNS = [
  ["user", "mtime", "DATE"],
  ["user", "jx", "TEXT DEFAULT '{}'"],
  ["config", "mtime", "DATE"],
  ["shun", "mtime", "DATE"],
  ["shun", "scom", "TEXT"],
  ["reportfmt", "mtime", "DATE"],
  ["reportfmt", "jx", "TEXT DEFAULT '{}'"],
  ["concealed", "mtime", "DATE"],
] as const;

/** Upgrades the tables that a rebuild keeps to the current layout. Needs a transaction. */
export function upgradePermanentTables(db: Database): void {
  for (const [table, column, type] of ADDED_COLUMNS) {
    const columns = db.columns(table);
    if (columns.length === 0 || columns.includes(column)) continue;
    db.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`);
  }
  allowLongHashes(db);
}

/** Before Fossil 2.0 a constraint allowed hashes of 40 digits only. */
function allowLongHashes(db: Database): void {
  const sql = db.value<string>("SELECT sql FROM sqlite_schema WHERE name='blob'") ?? "";
  if (!/length\(uuid\)\s*==?\s*40/i.test(sql)) return;
  db.exec(`
    DROP VIEW IF EXISTS artifact;
    CREATE TABLE blob_new(
      rid INTEGER PRIMARY KEY,
      rcvid INTEGER,
      size INTEGER,
      uuid TEXT UNIQUE NOT NULL,
      content BLOB,
      CHECK( length(uuid)>=40 AND rid>0 )
    );
    INSERT INTO blob_new SELECT rid, rcvid, size, uuid, content FROM blob;
    DROP TABLE blob;
    ALTER TABLE blob_new RENAME TO blob;
  `);
}
