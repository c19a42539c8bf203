/** Import of another repository file. */
import { createHash } from "node:crypto";
import {
  deltaTargetLength,
  isArtifactHash,
  MAX_ARTIFACT_BYTES,
  packedLength,
  unpackSent,
} from "../codec/mod.ts";
import { type Database, dropPrivate, type Progress } from "../content/mod.ts";
import { FossilError } from "../error.ts";
import { Repository } from "../repository.ts";
import { lfsOidOf } from "../read/mod.ts";
import { importUnversioned } from "../write/mod.ts";
import { requireEmpty } from "./import.ts";
import { NoticeLog } from "./notices.ts";
import type { FossilImportOptions, FossilImportReport } from "./types.ts";

/**
 * Imported settings: those that describe the project and its tickets. Settings that run programs or
 * grant permissions are left out.
 */
const SETTINGS = [
  "hash-policy",
  "main-branch",
  "project-code",
  "project-description",
  "project-name",
  "ticket-closed-expr",
  "ticket-status-column",
  "ticket-table",
  "ticket-title-expr",
  "wiki-use-html",
] as const;

/** Rows read at a time, without their contents. */
const BATCH_ROWS = 500;
/** Largest content as it is stored: zlib adds little to bytes that it cannot compress. */
const MAX_STORED_BYTES = MAX_ARTIFACT_BYTES + 1024 * 1024;
/** Most bytes that artifacts declare in all: so many, and so many per byte of the file. */
const MAX_DECLARED_BYTES = 2 * 1024 ** 3;
const MAX_DECLARED_RATIO = 200;
/** Most damaged artifacts to list in the message. */
const MAX_NAMED = 5;
const NOBODY = { user: null, ip: null };

interface BlobRow {
  readonly rid: number;
  readonly size: number;
  readonly uuid: unknown;
  /** SQLite's type of the content, and its length in bytes. */
  readonly type: string;
  readonly stored: number | null;
  readonly srcid: number | null;
}

/**
 * Copies the artifacts of a repository file into an empty repository: every one is decoded and
 * checked against its name, and all derived tables are computed again. Unversioned files are copied
 * and checked too. Not copied: users, passwords, reports, the texts of concealed values, triggers,
 * views, most settings, and private artifacts: readers would see these. Shunned names stay shunned.
 * The source is only read. Remove the new file if this fails.
 *
 * @throws {FossilError} `conflict` if the repository is not empty; `unsupported` if the file is not
 * a repository; `corrupt` if it has artifacts that do not match their hashes; `limit` if one is too
 * large, or all of them together are far larger than the file.
 */
export function importFossil(
  repository: Repository,
  path: string,
  { progress = () => {} }: FossilImportOptions = {},
): FossilImportReport {
  requireEmpty(repository);
  using source = Repository.open(path, { readOnly: true });
  const notices = new NoticeLog();
  const settings = source.read(() =>
    repository.write(NOBODY, () => {
      const imported = copySettings(source, repository);
      const rcvid = repository.db.insert(
        "INSERT INTO rcvfrom(uid,mtime,nonce,ipaddr) VALUES(NULL,julianday('now'),NULL,NULL)",
      );
      const sizes = new DeclaredSizes(source.db);
      copyArtifacts({ source: source.db, target: repository.db, rcvid, sizes, progress });
      forgetSourceless(repository);
      importUnversioned(source.db, repository.db, {
        rcvid,
        declare: (bytes) => {
          sizes.add(bytes);
          progress(0, 0);
        },
        accepts: (name, content) => {
          const oid = lfsOidOf(name);
          if (oid === null || createHash("sha256").update(content).digest("hex") === oid) {
            return true;
          }
          notices.add("content", name, "A file of Git LFS with other content is left out");
          return false;
        },
      });
      return imported;
    })
  );
  const damages = repository.verify({ progress });
  if (damages.length > 0) {
    const named = damages.slice(0, MAX_NAMED).map(({ hash, reason }) => `"${hash}": ${reason}`);
    const message = `${damages.length} artifacts are damaged: ${named.join("; ")}`;
    throw new FossilError("corrupt", message);
  }
  leaveOutPrivate(repository, notices);
  let rebuilt = repository.rebuild({ progress });
  // A tag can make an artifact private that was not in the file's list.
  while (leaveOutPrivate(repository, notices)) rebuilt = repository.rebuild({ progress });
  const { blobs, artifacts, phantoms } = rebuilt;
  repository.checkpoint();
  return { blobs, artifacts, phantoms, settings, notices: notices.report() };
}

/** @returns whether there were private artifacts */
function leaveOutPrivate(repository: Repository, notices: NoticeLog): boolean {
  const hashes = repository.write(NOBODY, () => dropPrivate(repository.db, repository.store));
  for (const hash of hashes) notices.add("private", hash, "A private artifact is left out");
  return hashes.length > 0;
}

function copySettings(source: Repository, target: Repository): string[] {
  return SETTINGS.filter((name) => {
    const value = source.config.get(name);
    if (value === undefined) return false;
    if (name === "project-code" && !/^[0-9a-f]{40}$/.test(value)) return false;
    target.config.set(name, value);
    return true;
  });
}

/** How artifacts are copied. */
interface Copying {
  readonly source: Database;
  readonly target: Database;
  /** Row of the reception that they belong to. */
  readonly rcvid: number;
  readonly sizes: DeclaredSizes;
  readonly progress: Progress;
}

/**
 * Copies contents as they are stored, deltas as deltas. Checks their form and their declared sizes,
 * so that reading them costs no more than these sizes say.
 */
function copyArtifacts(copying: Copying): void {
  const { source, target, progress } = copying;
  const select = `SELECT blob.rid, size, uuid, typeof(content) AS type, srcid,
      CASE typeof(content) WHEN 'blob' THEN length(content) END AS stored
    FROM blob LEFT JOIN delta USING(rid) WHERE blob.rid>? ORDER BY blob.rid LIMIT ${BATCH_ROWS}`;
  const total = source.value<number>("SELECT count(*) FROM blob") ?? 0;
  for (let [last, done] = [0, 0];;) {
    const rows = source.rows<BlobRow>(select, last);
    for (const row of rows) {
      copyBlob(row, copying);
      progress(++done, total);
    }
    if (rows.length < BATCH_ROWS) break;
    last = rows.at(-1)!.rid;
  }
  for (const { rid } of source.rows<{ rid: number }>("SELECT rid FROM private")) {
    target.run("INSERT OR IGNORE INTO private SELECT rid FROM blob WHERE rid=?", rid);
  }
  for (const { uuid } of source.rows<{ uuid: unknown }>("SELECT uuid FROM shun")) {
    if (typeof uuid !== "string" || !isArtifactHash(uuid)) continue;
    target.run(
      "INSERT OR IGNORE INTO shun(uuid,mtime) VALUES(?,CAST(strftime('%s','now') AS INT))",
      uuid,
    );
  }
}

/** Drops deltas of rows that the file does not have: other artifacts will get these rows. */
function forgetSourceless({ db, store }: Repository): void {
  const select = "SELECT rid FROM delta WHERE srcid NOT IN (SELECT rid FROM blob)";
  for (const { rid } of db.rows<{ rid: number }>(select)) store.forget(rid);
}

/** Sums up the sizes that artifacts declare. Small deltas can declare sizes without end. */
class DeclaredSizes {
  readonly #most: number;
  #sum = 0;

  constructor(source: Database) {
    const bytes = source.value<number>(
      "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
    ) ?? 0;
    this.#most = MAX_DECLARED_BYTES + MAX_DECLARED_RATIO * bytes;
  }

  /** @throws {FossilError} `limit` if the sum is too large for the file. */
  add(bytes: number): void {
    this.#sum += bytes;
    if (this.#sum <= this.#most) return;
    const message = `The artifacts of the file declare more than ${this.#most} bytes, ` +
      "which is far more than a file of its size holds";
    throw new FossilError("limit", message);
  }
}

function copyBlob(row: BlobRow, { source, target, rcvid, sizes }: Copying): void {
  const { rid, size, uuid, type, stored, srcid } = row;
  const isPhantom = type === "null";
  const isSound = typeof uuid === "string" && isArtifactHash(uuid) &&
    uuid === uuid.toLowerCase() && Number.isSafeInteger(rid) && Number.isSafeInteger(size) &&
    (isPhantom || stored !== null) && (isPhantom ? size < 0 : size >= 0);
  if (!isSound) throw new FossilError("corrupt", `Row ${rid} of the file is not an artifact`);
  if (size > MAX_ARTIFACT_BYTES || (stored ?? 0) > MAX_STORED_BYTES) {
    throw new FossilError("limit", `Artifact "${uuid}" has over ${MAX_ARTIFACT_BYTES} bytes`);
  }
  const content = isPhantom ? null : contentOf(source, rid);
  if (content !== null) {
    sizes.add(size);
    sizes.add(packedLength(content));
    if (srcid !== null && deltaTargetLength(unpackSent(content)) !== size) {
      throw new FossilError("corrupt", `Artifact "${uuid}" does not have the size of its row`);
    }
  }
  target.run(
    "INSERT INTO blob(rid,rcvid,size,uuid,content) VALUES(?,?,?,?,?)",
    rid,
    isPhantom ? 0 : rcvid,
    isPhantom ? -1 : size,
    uuid,
    content,
  );
  if (srcid !== null && !isPhantom) {
    target.run("INSERT INTO delta(rid,srcid) VALUES(?,?)", rid, srcid);
  }
}

function contentOf(source: Database, rid: number): Uint8Array {
  const content = source.value<unknown>("SELECT content FROM blob WHERE rid=?", rid);
  if (content instanceof Uint8Array) return content;
  throw new FossilError("corrupt", `Row ${rid} of the file is not an artifact`);
}
