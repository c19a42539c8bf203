import { ancestryOf } from "./ancestry.ts";
import { branchColumn, REF_COLUMNS, refOf, type RefRow } from "./checkins.ts";
import type { PathOptions } from "./file.ts";
import { shownText } from "../artifact/mod.ts";
import { FossilError } from "../error.ts";
import { normalizePath } from "./manifests.ts";
import { pageOf, type Paging } from "./paging.ts";
import type { Reader } from "./reader.ts";
import { resolveCheckin } from "./resolve.ts";
import type { FileHistory, FileVersion } from "./shapes.ts";

/** Whose history, and which page of it. */
export interface HistoryOptions extends PathOptions, Paging {
  /** All check-ins of the repository that changed the file, not only ancestors of `checkin`. */
  readonly everywhere?: boolean;
}

/** A change of a file in `mlink`. */
interface Change {
  readonly mid: number;
  readonly mtime: number;
  readonly fnid: number;
  readonly pfnid: number;
}

/**
 * The check-ins that changed a file, newest first by the time of the event, then by the newest row.
 * Before a rename, the file is followed under its old name.
 *
 * @throws {FossilError} `missing` if no such check-in knows the file; `ambiguous`.
 */
export function readHistory(reader: Reader, options: HistoryOptions): FileHistory {
  return reader.read(() => {
    const { limit, offset } = pageOf(options);
    const path = normalizePath(options.path);
    const root = options.everywhere === true ? null : resolveCheckin(reader, options.checkin).rid;
    const changes = changesOf(reader, path, root);
    if (changes.length === 0) throw new FossilError("missing", `There is no file "${path}"`);
    const checkins = changes.slice(offset, offset + limit)
      .map((change) => versionOf(reader, change))
      .filter((version): version is FileVersion => version !== null);
    return { path, checkins, total: changes.length };
  });
}

/** Rows of `mlink` for a path and the names it had before, newest first. */
function changesOf(reader: Reader, path: string, root: number | null): Change[] {
  const { db } = reader.repository;
  const ancestry = ancestryOf(reader);
  const found = new Map<string, Change>();
  const fnid = db.value<number>("SELECT fnid FROM filename WHERE name=?", path);
  const lines = fnid === undefined ? [] : [{ fnid, below: root }];
  const seen = new Set<string>();
  for (let line = lines.pop(); line !== undefined; line = lines.pop()) {
    const marks = line.below === null ? null : ancestry.ancestors(line.below);
    for (const change of rowsOf(reader, line.fnid)) {
      if (marks !== null && marks[change.mid] !== 1) continue;
      found.set(`${change.mid} ${change.fnid}`, change);
      const key = `${change.pfnid} ${change.mid}`;
      if (change.pfnid === 0 || seen.has(key)) continue;
      seen.add(key);
      const parent = ancestry.primaryParent(change.mid);
      if (parent !== 0) lines.push({ fnid: change.pfnid, below: parent });
    }
  }
  return [...found.values()]
    .toSorted((left, right) => right.mtime - left.mtime || right.mid - left.mid);
}

/** The changes under one name. A rename to another name does not count as a deletion. */
function rowsOf(reader: Reader, fnid: number): Change[] {
  return reader.repository.db.rows<Change>(
    `SELECT mid, event.mtime, fnid, pfnid FROM mlink JOIN event ON objid=mid
      WHERE fnid=? AND NOT isaux AND (fid>0 OR NOT EXISTS(
        SELECT 1 FROM mlink AS other WHERE other.mid=mlink.mid AND other.pfnid=mlink.fnid))`,
    fnid,
  );
}

interface VersionRow extends RefRow {
  readonly branch: string;
  readonly name: string;
  readonly prevName: string | null;
  readonly file: string | null;
  readonly prevFile: string | null;
}

function versionOf(reader: Reader, { mid, fnid }: Change): FileVersion | null {
  const row = reader.repository.db.row<VersionRow>(
    `SELECT ${REF_COLUMNS}, ${branchColumn("event.objid")} AS branch,
       (SELECT name FROM filename WHERE fnid=mlink.fnid) AS name,
       (SELECT name FROM filename WHERE fnid=pfnid) AS prevName,
       (SELECT uuid FROM blob WHERE rid=fid) AS file,
       (SELECT uuid FROM blob WHERE rid=pid) AS prevFile
      FROM mlink JOIN event ON objid=mid JOIN blob ON blob.rid=mid
     WHERE mid=? AND mlink.fnid=? AND NOT isaux`,
    mid,
    fnid,
  );
  if (row === undefined) return null;
  return {
    ...refOf(row),
    branch: shownText(row.branch, "name"),
    name: row.name,
    change_type: changeType(row),
    file_uuid: row.file,
    prev_file_uuid: row.prevFile,
    prev_name: row.prevName,
  };
}

function changeType({ file, prevFile, prevName }: VersionRow): FileVersion["change_type"] {
  if (file === null) return "deleted";
  if (prevName !== null) return "renamed";
  return prevFile === null ? "added" : "modified";
}
