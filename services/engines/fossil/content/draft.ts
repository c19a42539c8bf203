/** Copies a draft into a compact repository file. */
import { packBlob, unpackSent } from "../codec/mod.ts";
import type { Database, SqlValue } from "./database.ts";
import { APPLICATION_ID } from "./schema.ts";
import { writeWholeFile } from "./whole_file.ts";

/** Rows read at a time: of contents, which may be large, and of other tables. */
const [BATCH_CONTENTS, BATCH_ROWS] = [20, 2000];

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/** Marks uncompressed content in a draft. In a blob it would be an impossible length. */
const PLAIN = Uint8Array.of(0xff, 0xff, 0xff, 0xff);

/** Packs bytes for a draft, as they are. */
export function packPlain(content: Uint8Array): Uint8Array {
  const packed = new Uint8Array(PLAIN.length + content.length);
  packed.set(PLAIN);
  packed.set(content, PLAIN.length);
  return packed;
}

/** Unpacks content of a draft, compressed or not; throws like `unpackSent`. */
export function unpackDraft(packed: Uint8Array, maxBytes?: number): Uint8Array {
  return isPlain(packed) ? packed.subarray(PLAIN.length) : unpackSent(packed, maxBytes);
}

function isPlain(packed: Uint8Array): boolean {
  return PLAIN.every((byte, index) => packed[index] === byte);
}

type Row = Readonly<Record<string, SqlValue>>;

/**
 * Copies a repository that was written as a draft into a new file: compresses the contents, fills
 * the pages and makes the file durable. VACUUM would do the same, but Deno refuses it to a program
 * without all permissions.
 *
 * @throws {FossilError} `invalid` if the file exists.
 */
export function copyDraft(draft: Database, path: string): void {
  writeWholeFile(path, (copy) => {
    copy.exec("BEGIN");
    const schema = draft.rows<SchemaRow>(
      "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*'",
    );
    const tables = schema.filter(({ type }) => type === "table");
    for (const { sql } of tables) copy.exec(sql);
    for (const table of tables) copyTable(draft, copy, table);
    for (const { type, sql } of schema) if (type !== "table") copy.exec(sql);
    copy.exec(`COMMIT; PRAGMA application_id=${APPLICATION_ID}`);
  });
}

function copyTable(draft: Database, copy: Database, { name, sql }: SchemaRow): void {
  const columns = draft.columns(name);
  const insert = `INSERT INTO "${name}" VALUES(${columns.map(() => "?").join(",")})`;
  const rows = name === "blob"
    ? contentsOf(draft)
    : /\bWITHOUT\s+ROWID\b/i.test(sql)
    ? draft.rows<Row>(`SELECT * FROM "${name}"`)
    : rowsOf(draft, name, columns);
  for (const row of rows) copy.run(insert, ...columns.map((column) => row[column] ?? null));
}

/** Rows in the order in which they were inserted. */
function* rowsOf(draft: Database, table: string, columns: readonly string[]): Generator<Row> {
  const taken = new Set(columns.map((column) => column.toLowerCase()));
  const rowid = ["rowid", "_rowid_", "oid"].find((name) => !taken.has(name)) ?? "rowid";
  // Each unversioned file can be as large as an artifact.
  const batch = table === "unversioned" ? 1 : BATCH_ROWS;
  const select = `SELECT ${rowid} AS "draft row", * FROM "${table}" WHERE ${rowid}>?
    ORDER BY ${rowid} LIMIT ${batch}`;
  for (let last: SqlValue = -Infinity;;) {
    const rows: Row[] = draft.rows<Row>(select, last);
    yield* rows;
    if (rows.length < batch) return;
    last = rows.at(-1)?.["draft row"] ?? null;
  }
}

interface ContentRow {
  readonly rid: number;
  readonly content: Uint8Array | null;
}

/** Rows of `blob`, with the content that is not compressed yet. */
function* contentsOf(draft: Database): Generator<Row> {
  const select = `SELECT * FROM blob WHERE rid>? ORDER BY rid LIMIT ${BATCH_CONTENTS}`;
  for (let last = 0;;) {
    const rows = draft.rows<ContentRow>(select, last);
    for (const row of rows) {
      const { content } = row;
      const isPacked = content === null || !isPlain(content);
      yield { ...row, content: isPacked ? content : packBlob(unpackDraft(content)) };
    }
    if (rows.length < BATCH_CONTENTS) return;
    last = rows.at(-1)!.rid;
  }
}
