/** Writing unversioned files: the newest content of each name, outside of every check-in. */
import { createHash } from "node:crypto";
import { isArtifactHash, MAX_ARTIFACT_BYTES, unpackBlob } from "../codec/mod.ts";
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
  readonly content: unknown;
}

/**
 * Copies the unversioned files of another repository, each checked against its hash. Needs `write`.
 *
 * @param rcvid row of the reception that they belong to.
 * @returns how many there were.
 * @throws {FossilError} `corrupt` if a file does not match its hash; `limit` if one is too large.
 */
export function importUnversioned(source: Database, target: Database, rcvid: number): number {
  if (!source.hasTable("unversioned")) return 0;
  target.exec(TABLE);
  let copied = 0;
  const select = `SELECT uvid, name, mtime, hash, sz, encoding, content FROM unversioned
    WHERE uvid>? AND hash IS NOT NULL ORDER BY uvid LIMIT 1`;
  let row = source.row<StoredFile>(select, 0);
  for (; row !== undefined; row = source.row<StoredFile>(select, row.uvid)) {
    const { name, mtime, hash, sz, encoding, content } = checked(row);
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

function checked({ name, mtime, hash, sz, encoding, content }: StoredFile) {
  const isSound = typeof name === "string" && typeof mtime === "number" &&
    typeof hash === "string" && isArtifactHash(hash) && typeof sz === "number" &&
    (encoding === 0 || encoding === 1) && content instanceof Uint8Array;
  if (!isSound) throw new FossilError("corrupt", "A row of the unversioned files is not a file");
  if (content.length > MAX_ARTIFACT_BYTES) {
    throw new FossilError("limit", `The unversioned file "${name}" is too large`);
  }
  const bytes = encoding === 1 ? unpackBlob(content) : content;
  const algorithm = hash.length === SHA1_DIGITS ? "sha1" : "sha3-256";
  if (bytes.length !== sz || createHash(algorithm).update(bytes).digest("hex") !== hash) {
    throw new FossilError("corrupt", `The unversioned file "${name}" does not match its hash`);
  }
  return { name, mtime, hash, sz, encoding, content };
}
