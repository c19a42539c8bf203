/** Writing unversioned files: the newest content of each name, outside of every check-in. */
import { createHash } from "node:crypto";
import { isArtifactHash, MAX_ARTIFACT_BYTES, unpackSent } from "../codec/mod.ts";
import type { Database } from "../content/mod.ts";
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { type Author, writeAs } from "./author.ts";

/** An unversioned file to write. */
export interface NewUnversioned extends Author {
  readonly name: string;
  /** Path of the file with the content. */
  readonly source: string;
  /** The content's name by {@link nameOfFile}. */
  readonly uuid: string;
}

/** How much of a file is read at once, in bytes. */
const PART_BYTES = 1024 * 1024;

const SHA1_DIGITS = 40;

/** The table of `fossil uv`, which a repository gets with its first such file. */
const TABLE = `CREATE TABLE IF NOT EXISTS unversioned(
  uvid INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  rcvid INTEGER,
  mtime DATETIME,
  hash TEXT,
  sz INTEGER,
  encoding INT,
  content BLOB
)`;

/** The hash by which a repository names the content of a file; reads the file in parts. */
export function nameOfFile({ config }: Repository, source: string): string {
  const algorithm = (config.get("hash-policy") ?? "2") === "0" ? "sha1" : "sha3-256";
  const hash = createHash(algorithm);
  const part = new Uint8Array(PART_BYTES);
  using file = Deno.openSync(source);
  for (let length = file.readSync(part); length !== null; length = file.readSync(part)) {
    hash.update(part.subarray(0, length));
  }
  return hash.digest("hex");
}

/**
 * Writes an unversioned file. SQLite takes a value as a whole, so this needs three to four times its
 * length in memory.
 *
 * @throws {FossilError} `limit` if it is larger than an artifact may be.
 */
export function writeUnversioned(
  repository: Repository,
  { name, source, uuid, ...author }: NewUnversioned,
): void {
  const { size } = Deno.statSync(source);
  if (size > MAX_ARTIFACT_BYTES) {
    throw new FossilError("limit", `A file has at most ${MAX_ARTIFACT_BYTES} bytes`);
  }
  const content = readWhole(source, size);
  writeAs(repository, author, () => {
    const { db, config } = repository;
    db.exec(TABLE);
    db.run(
      `REPLACE INTO unversioned(name,rcvid,mtime,hash,sz,encoding,content) VALUES(?,?,?,?,?,0,?)`,
      name,
      receive(repository, author),
      nextTime(repository, name, author),
      uuid,
      content.length,
      content,
    );
    config.delete("uv-hash");
  });
}

/** Reads a file of a known size. `Deno.readFileSync` takes twice the memory. */
function readWhole(path: string, size: number): Uint8Array {
  const content = new Uint8Array(size);
  using file = Deno.openSync(path);
  for (let length = 0; length < size;) {
    const read = file.readSync(content.subarray(length));
    if (read === null) throw new FossilError("invalid", "The file became shorter");
    length += read;
  }
  return content;
}

/**
 * Removes unversioned files. Their names stay, so that `fossil uv sync` removes them elsewhere.
 * Returns how many there were.
 */
export function removeUnversioned(
  repository: Repository,
  { names, ...author }: Author & { readonly names: readonly string[] },
): number {
  return writeAs(repository, author, () => {
    const { db, config } = repository;
    if (!db.hasTable("unversioned")) return 0;
    const rcvid = receive(repository, author);
    let removed = 0;
    for (const name of names) {
      removed += db.run(
        `UPDATE unversioned SET rcvid=?, mtime=?, hash=NULL, sz=0, encoding=0, content=NULL
          WHERE name=? AND hash IS NOT NULL`,
        rcvid,
        nextTime(repository, name, author),
        name,
      );
    }
    config.delete("uv-hash");
    return removed;
  });
}

/** Makes the table of unversioned files, if it is missing. Needs `write`. */
export function prepareUnversioned({ db }: Repository): void {
  db.exec(TABLE);
}

/** An unversioned file as another repository has it. */
export type ReceivedUnversioned =
  & {
    readonly name: string;
    /** Unix seconds. */
    readonly time: number;
  }
  & (
    | { readonly kind: "removed" }
    /** Only the time differs. */
    | { readonly kind: "touched" }
    | {
      readonly kind: "written";
      readonly hash: string;
      /** Length of the file in bytes. */
      readonly size: number;
      /** 1 if the content is compressed, else 0. */
      readonly encoding: 0 | 1;
      readonly content: Uint8Array;
    }
  );

/** Writes an unversioned file with the time that another repository gives it. Needs `write`. */
export function receiveUnversioned({ db, config, store }: Repository, file: ReceivedUnversioned) {
  const { name, time } = file;
  switch (file.kind) {
    case "removed":
      db.run(
        `UPDATE unversioned SET rcvid=?, mtime=?, hash=NULL, sz=0, encoding=0, content=NULL
          WHERE name=?`,
        store.receipt(),
        time,
        name,
      );
      break;
    case "touched":
      db.run("UPDATE unversioned SET mtime=? WHERE name=?", time, name);
      break;
    case "written":
      db.run(
        `REPLACE INTO unversioned(name,rcvid,mtime,hash,sz,encoding,content)
         VALUES(?,?,?,?,?,?,?)`,
        name,
        store.receipt(),
        time,
        file.hash,
        file.size,
        file.encoding,
        file.content,
      );
  }
  config.delete("uv-hash");
}

/** Unix seconds; later than the version before, which would win otherwise. */
function nextTime({ db }: Repository, name: string, { date }: Author): number {
  const before = db.value<number>("SELECT mtime FROM unversioned WHERE name=?", name) ?? 0;
  return Math.max(Math.floor(date / 1000), before + 1);
}

function receive({ db }: Repository, { user, ip }: Author): number {
  return db.insert(
    `INSERT INTO rcvfrom(uid,mtime,nonce,ipaddr)
     VALUES((SELECT uid FROM user WHERE login=?),julianday('now'),NULL,?)`,
    user,
    ip ?? null,
  );
}

interface StoredFile {
  readonly uvid: number;
  readonly name: unknown;
  readonly mtime: unknown;
  readonly hash: unknown;
  readonly sz: unknown;
  readonly encoding: unknown;
  /** Length of the content as it is stored, in bytes; null if that is no content. */
  readonly stored: number | null;
  /** Null if it is too large. */
  readonly content: unknown;
}

/**
 * Copies the unversioned files of another repository, each checked against its hash. Needs `write`.
 *
 * @param rcvid row of the reception that they belong to.
 * @param declare called with the size that each file declares, before the file is read.
 * @param accepts whether to copy a file.
 * @returns how many there were.
 * @throws {FossilError} `corrupt` if a file does not match its hash; `limit` if one is too large.
 */
export function importUnversioned(
  source: Database,
  target: Database,
  { rcvid, declare, accepts }: {
    readonly rcvid: number;
    readonly declare: (bytes: number) => void;
    readonly accepts: (name: string, content: Uint8Array) => boolean;
  },
): number {
  if (!source.hasTable("unversioned")) return 0;
  target.exec(TABLE);
  let copied = 0;
  const select = `SELECT uvid, name, mtime, hash, sz, encoding,
      CASE typeof(content) WHEN 'blob' THEN length(content) END AS stored,
      CASE WHEN typeof(content)='blob' AND length(content)<=${MAX_ARTIFACT_BYTES} THEN content END
        AS content
    FROM unversioned
    WHERE uvid>? AND hash IS NOT NULL ORDER BY uvid LIMIT 1`;
  let row = source.row<StoredFile>(select, 0);
  for (; row !== undefined; row = source.row<StoredFile>(select, row.uvid)) {
    if (typeof row.sz === "number") declare(row.sz);
    const { name, mtime, hash, sz, encoding, content, bytes } = checked(row);
    if (!accepts(name, bytes)) continue;
    target.run(
      "INSERT INTO unversioned(name,rcvid,mtime,hash,sz,encoding,content) VALUES(?,?,?,?,?,?,?)",
      name,
      rcvid,
      mtime,
      hash,
      sz,
      encoding,
      content,
    );
    copied++;
  }
  return copied;
}

function checked({ name, mtime, hash, sz, encoding, stored, content }: StoredFile) {
  if ((stored ?? 0) > MAX_ARTIFACT_BYTES) {
    throw new FossilError("limit", "An unversioned file is too large");
  }
  const isSound = typeof name === "string" && typeof mtime === "number" &&
    typeof hash === "string" && isArtifactHash(hash) && typeof sz === "number" &&
    (encoding === 0 || encoding === 1) && content instanceof Uint8Array;
  if (!isSound) throw new FossilError("corrupt", "A row of the unversioned files is not a file");
  // Bytes that inflate to more than the file declares cost no more than that.
  const bytes = encoding === 1 ? unpackSent(content, Math.min(sz, MAX_ARTIFACT_BYTES)) : content;
  const algorithm = hash.length === SHA1_DIGITS ? "sha1" : "sha3-256";
  if (bytes.length !== sz || createHash(algorithm).update(bytes).digest("hex") !== hash) {
    throw new FossilError("corrupt", `The unversioned file "${name}" does not match its hash`);
  }
  return { name, mtime, hash, sz, encoding, content, bytes };
}
