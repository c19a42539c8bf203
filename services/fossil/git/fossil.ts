/** Import of another repository file. */
import { isArtifactHash } from "../codec/mod.ts";
import type { Database } from "../content/mod.ts";
import { FossilError } from "../error.ts";
import { Repository } from "../repository.ts";
import { importUnversioned } from "../write/mod.ts";
import { requireEmpty } from "./import.ts";
import type { FossilImportOptions, FossilImportReport } from "./types.ts";

/**
 * Imported settings: those that describe the project and its tickets. Settings that run programs or
 * grant permissions are left out.
 */
const SETTINGS = [
  "hash-policy",
  "project-code",
  "project-description",
  "project-name",
  "ticket-closed-expr",
  "ticket-status-column",
  "ticket-table",
  "ticket-title-expr",
  "wiki-use-html",
] as const;

/** Rows read at a time. */
const BATCH_ROWS = 20;
/** Most damaged artifacts to list in the message. */
const MAX_NAMED = 5;
const NOBODY = { user: null, ip: null };

interface BlobRow {
  readonly rid: number;
  readonly size: number;
  readonly uuid: unknown;
  readonly content: unknown;
  readonly srcid: number | null;
}

/**
 * Copies the artifacts of a repository file into an empty repository: every one is decoded and
 * checked against its name, and all derived tables are computed again. Unversioned files are copied
 * and checked too. Not copied: users, passwords, reports, the texts of concealed values, triggers,
 * views, and most settings. Private artifacts stay private, and shunned names stay shunned. The source is only
 * read. Remove the new file if this fails.
 *
 * @throws {FossilError} `conflict` if the repository is not empty; `unsupported` if the file is not
 * a repository; `corrupt` or `limit` if it has artifacts that do not match their hashes.
 */
export function importFossil(
  repository: Repository,
  path: string,
  options: FossilImportOptions = {},
): FossilImportReport {
  requireEmpty(repository);
  using source = Repository.open(path, { readOnly: true });
  const settings = source.read(() =>
    repository.write(NOBODY, () => {
      const imported = copySettings(source, repository);
      const rcvid = repository.db.insert(
        "INSERT INTO rcvfrom(uid,mtime,nonce,ipaddr) VALUES(NULL,julianday('now'),NULL,NULL)",
      );
      copyArtifacts(source.db, repository.db, rcvid);
      importUnversioned(source.db, repository.db, rcvid);
      return imported;
    })
  );
  const damages = repository.verify();
  if (damages.length > 0) {
    const named = damages.slice(0, MAX_NAMED).map(({ hash, reason }) => `"${hash}": ${reason}`);
    const message = `${damages.length} artifacts are damaged: ${named.join("; ")}`;
    throw new FossilError("corrupt", message);
  }
  const { blobs, artifacts, phantoms } = repository.rebuild(options.progress);
  repository.checkpoint();
  return { blobs, artifacts, phantoms, settings };
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

/** Copies contents as they are stored, deltas as deltas. Checks only their form so far. */
function copyArtifacts(source: Database, target: Database, rcvid: number): void {
  const select = `SELECT blob.rid, size, uuid, content, srcid
    FROM blob LEFT JOIN delta USING(rid) WHERE blob.rid>? ORDER BY blob.rid LIMIT ${BATCH_ROWS}`;
  for (let last = 0;;) {
    const rows = source.rows<BlobRow>(select, last);
    for (const row of rows) copyBlob(target, row, rcvid);
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

function copyBlob(target: Database, row: BlobRow, rcvid: number): void {
  const { rid, size, uuid, content, srcid } = row;
  const isPhantom = content === null;
  const isSound = typeof uuid === "string" && isArtifactHash(uuid) &&
    uuid === uuid.toLowerCase() && Number.isSafeInteger(rid) && Number.isSafeInteger(size) &&
    (isPhantom || content instanceof Uint8Array) && (isPhantom ? size < 0 : size >= 0);
  if (!isSound) throw new FossilError("corrupt", `Row ${rid} of the file is not an artifact`);
  target.run(
    "INSERT INTO blob(rid,rcvid,size,uuid,content) VALUES(?,?,?,?,?)",
    rid,
    isPhantom ? 0 : rcvid,
    isPhantom ? -1 : size,
    uuid,
    isPhantom ? null : content,
  );
  if (srcid !== null) target.run("INSERT INTO delta(rid,srcid) VALUES(?,?)", rid, srcid);
}
