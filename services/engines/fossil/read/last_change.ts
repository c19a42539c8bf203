import type { FileCard } from "../artifact/mod.ts";
import type { Ancestry } from "../graph/mod.ts";
import { hiddenDeletions } from "../crosslink/mod.ts";
import { ancestryOf } from "./ancestry.ts";
import type { Reader } from "./reader.ts";
import { TextMap, TextSet } from "../text/mod.ts";

/** Most contents of paths whose check-ins are cached, at some 200 bytes each. */
const MAX_KNOWN = 50_000;

/** Check-ins that gave a file its content, newest first, on any line. */
type Givers = readonly number[];

/**
 * For each file of a check-in, the check-in that last gave it its content: the newest such
 * ancestor, except merges that only took it over from a parent. Needs `read`.
 *
 * @returns rows of check-ins by path.
 */
export function lastChanges(
  reader: Reader,
  checkin: number,
  files: readonly FileCard[],
): Map<string, number> {
  const ancestry = ancestryOf(reader);
  const marks = ancestry.ancestors(checkin);
  const givers = giversOf(reader, files);
  const changes = new TextMap<number>();
  for (const [i, { name }] of files.entries()) {
    const mids = givers[i]!.filter((mid) => marks[mid] === 1);
    const origin = mids.length < 2
      ? mids[0]
      : mids.find((mid) => !isTakenOver(reader, ancestry, mid, name)) ?? mids[0];
    if (origin !== undefined) changes.set(name, origin);
  }
  return changes;
}

/** After more check-ins than these, nobody asks for the changes of each. */
const MAX_STEPS = 200;

/**
 * The files that may differ between a check-in and an earlier one on its primary line, or that may
 * have got their content from another check-in since. Needs `read`.
 *
 * @returns paths; null if the other one is not on the line, or too far back.
 */
export function changedFiles(
  reader: Reader,
  earlier: number,
  checkin: number,
): readonly string[] | null {
  const mids = ancestryOf(reader).since(earlier, checkin, MAX_STEPS);
  const hidden = mids && hiddenDeletions(reader.repository, mids);
  if (mids === null || hidden === null) return null;
  const rows = reader.repository.db.rows<{ name: string }>(
    `SELECT DISTINCT name FROM json_each(?) CROSS JOIN mlink ON mid=value
       CROSS JOIN filename USING(fnid) WHERE NOT isaux`,
    JSON.stringify(mids),
  );
  return [...new TextSet([...rows.map(({ name }) => name), ...hidden])];
}

/** The givers of contents of paths, by hash and path, and the last row of `mlink` that counts. */
class KnownGivers {
  readonly byContent = new Map<string, Givers>();
  lastRow = 0;
}

/**
 * The check-in that gave each file its content. Most stay the same from one check-in to the next.
 */
function giversOf(reader: Reader, files: readonly FileCard[]): Givers[] {
  const { byContent: known } = reader.growing("givers", () => {
    const givers = new KnownGivers();
    forgetGiven(reader, givers);
    return givers;
  }, (givers) => forgetGiven(reader, givers));
  const keys = files.map(({ hash, name }) => `${hash} ${name}`);
  const unknown = files.filter((_, i) => !known.has(keys[i]!));
  const found = unknown.length === 0 ? [] : readGivers(reader, unknown);
  const fresh = new Map(unknown.map(({ hash, name }, i) => [`${hash} ${name}`, found[i]!]));
  const givers = keys.map((key) => known.get(key) ?? fresh.get(key) ?? []);
  if (known.size + fresh.size > MAX_KNOWN) known.clear();
  if (fresh.size <= MAX_KNOWN) { for (const [key, mids] of fresh) known.set(key, mids); }
  return givers;
}

/** Forgets the givers of what was given again since the last call. */
function forgetGiven({ repository: { db } }: Reader, givers: KnownGivers): void {
  const { byContent, lastRow } = givers;
  givers.lastRow = db.value<number | null>("SELECT max(rowid) FROM mlink") ?? 0;
  if (givers.lastRow - lastRow > MAX_KNOWN) byContent.clear();
  if (byContent.size === 0) return;
  const given = db.rows<{ uuid: string; name: string }>(
    `SELECT DISTINCT uuid, name FROM mlink CROSS JOIN blob ON blob.rid=fid
       CROSS JOIN filename USING(fnid) WHERE mlink.rowid>?`,
    lastRow,
  );
  for (const { uuid, name } of given) byContent.delete(`${uuid} ${name}`);
}

/** A content that more rows of `mlink` have is looked for by the name of its file. */
const MAX_ROWS_OF_CONTENT = 50;

/**
 * An empty file may be in a thousand places, and a file may have a thousand contents: what fewer rows
 * have is looked for.
 */
function readGivers(reader: Reader, files: readonly FileCard[]): Givers[] {
  const { db } = reader.repository;
  const common = new Set(
    db.rows<{ uuid: string }>(
      `SELECT DISTINCT uuid FROM json_each(?) CROSS JOIN blob ON uuid=value
        WHERE (SELECT count(*) FROM (SELECT 1 FROM mlink WHERE fid=blob.rid LIMIT ${MAX_ROWS_OF_CONTENT}))
              =${MAX_ROWS_OF_CONTENT}`,
      JSON.stringify(files.map(({ hash }) => hash)),
    ).map(({ uuid }) => uuid),
  );
  const givers: number[][] = files.map(() => []);
  const read = (by: string, isCommon: boolean) => {
    const some = files.flatMap(({ hash, name }, i) =>
      common.has(hash ?? "") === isCommon ? [[hash, name, i]] : []
    );
    if (some.length === 0) return;
    const rows = db.rows<{ i: number; mid: number }>(
      `SELECT file.value->>2 AS i, mid FROM json_each(?) AS file
         CROSS JOIN blob ON uuid=file.value->>0
         CROSS JOIN filename ON name=file.value->>1
         CROSS JOIN mlink ON ${by}
         CROSS JOIN event ON objid=mid
        WHERE NOT isaux AND (pid<>fid OR pfnid>0) ORDER BY event.mtime DESC, mid DESC`,
      JSON.stringify(some),
    );
    for (const { i, mid } of rows) givers[i]!.push(mid);
  };
  // The plus keeps SQLite from that column's index.
  read("fid=blob.rid AND +mlink.fnid=filename.fnid", false);
  read("+fid=blob.rid AND mlink.fnid=filename.fnid", true);
  return givers;
}

/** Whether a merge took a file over from a merged check-in: `mlink` has no row for that. */
function isTakenOver(reader: Reader, ancestry: Ancestry, mid: number, name: string): boolean {
  return ancestry.mergeParents(mid).some((parent) =>
    !reader.repository.db.exists(
      `SELECT 1 FROM mlink WHERE mid=? AND pmid=? AND isaux
         AND fnid=(SELECT fnid FROM filename WHERE name=?)`,
      mid,
      parent,
      name,
    )
  );
}
