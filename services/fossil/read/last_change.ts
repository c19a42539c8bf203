import type { FileCard } from "../artifact/mod.ts";
import { type Ancestry, ancestryOf } from "./ancestry.ts";
import type { Reader } from "./reader.ts";

/** A check-in that gave a file the content it has. */
interface Candidate {
  readonly mid: number;
  readonly mtime: number;
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
  const changes = new Map<string, number>();
  for (const { name, hash } of files) {
    const candidates = reader.repository.db.rows<Candidate>(
      `SELECT mid, event.mtime FROM blob CROSS JOIN mlink ON fid=rid CROSS JOIN event ON objid=mid
        WHERE uuid=? AND NOT isaux AND (pid<>fid OR pfnid>0)
          AND fnid=(SELECT fnid FROM filename WHERE name=?)
        ORDER BY event.mtime DESC, mid DESC`,
      hash,
      name,
    ).filter(({ mid }) => marks[mid] === 1);
    const origin = candidates.length < 2
      ? candidates[0]
      : candidates.find(({ mid }) => !isTakenOver(reader, ancestry, mid, name)) ?? candidates[0];
    if (origin !== undefined) changes.set(name, origin.mid);
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
