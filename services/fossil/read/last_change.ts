import type { FileCard } from "../artifact/mod.ts";
import { type Ancestry, ancestryOf } from "./ancestry.ts";
import type { Reader } from "./reader.ts";

/** A check-in that gave a file the content it has. */
interface Candidate {
  /** Which file. */
  readonly i: number;
  readonly mid: number;
}

/**
 * For each file of a check-in the check-in that last gave it its content: the newest ancestor that
 * did, but for a merge that only took it over from one of its parents. Needs `read`.
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
  const rows = reader.repository.db.rows<Candidate>(
    `SELECT file.key AS i, mid FROM json_each(?) AS file
       CROSS JOIN blob ON uuid=file.value->>0
       CROSS JOIN filename ON name=file.value->>1
       CROSS JOIN mlink ON fid=blob.rid AND mlink.fnid=filename.fnid
       CROSS JOIN event ON objid=mid
      WHERE NOT isaux AND (pid<>fid OR pfnid>0) ORDER BY event.mtime DESC, mid DESC`,
    JSON.stringify(files.map(({ hash, name }) => [hash, name])),
  );
  const candidates = new Map<number, number[]>();
  for (const { i, mid } of rows) {
    if (marks[mid] !== 1) continue;
    const known = candidates.get(i);
    if (known === undefined) candidates.set(i, [mid]);
    else known.push(mid);
  }
  const changes = new Map<string, number>();
  for (const [i, { name }] of files.entries()) {
    const mids = candidates.get(i) ?? [];
    const origin = mids.length < 2
      ? mids[0]
      : mids.find((mid) => !isTakenOver(reader, ancestry, mid, name)) ?? mids[0];
    if (origin !== undefined) changes.set(name, origin);
  }
  return changes;
}

/** Whether a merge has a file as one of the merged check-ins has it: there is no row for that. */
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
