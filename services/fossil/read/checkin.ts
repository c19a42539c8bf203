import { compareTrees } from "./changes.ts";
import { readTimelineCheckin } from "./checkins.ts";
import { manifestOf, treeOf } from "./manifests.ts";
import type { Reader } from "./reader.ts";
import { resolveCheckin } from "./resolve.ts";
import type { CheckinDetail, FileDifference } from "./shapes.ts";
import { FossilError } from "../error.ts";

/**
 * A check-in with its changes against its primary parent.
 *
 * @param checkin any name; absent for the tip of trunk.
 * @throws {FossilError} `missing` or `ambiguous` if the name fits none or several, `missing` if the
 * check-in itself is missing.
 */
export function readCheckin(reader: Reader, checkin?: string): CheckinDetail {
  return reader.read(() => {
    const { rid, uuid } = resolveCheckin(reader, checkin);
    const summary = readTimelineCheckin(reader, rid);
    if (summary === null) throw new FossilError("missing", `Check-in "${uuid}" is not here`);
    const children = reader.repository.db.rows<{ uuid: string }>(
      `SELECT uuid FROM plink JOIN blob ON rid=cid WHERE pid=? ORDER BY isprim DESC, mtime, cid`,
      rid,
    );
    return {
      ...summary,
      files_changed: changesOf(reader, rid),
      children: children.map((child) => child.uuid),
      cherrypicks: manifestOf(reader, rid).cherrypicks
        .map(({ hash, backout }) => ({ uuid: hash, backout })),
    };
  });
}

/** The changes of a check-in against its primary parent; all files if it has none. */
function changesOf(reader: Reader, rid: number): FileDifference[] {
  const parent = primaryParentOf(reader, rid);
  const after = treeOf(reader, rid);
  if (parent === 0) return compareTrees([], after);
  const renames = after.flatMap(({ name, oldName }) => oldName === null ? [] : [[oldName, name]]);
  return compareTrees(treeOf(reader, parent), after, new Map(renames as [string, string][]));
}

/** Row of the primary parent, 0 if it does not exist or is missing. */
export function primaryParentOf(reader: Reader, rid: number): number {
  return reader.repository.db.value<number>(
    "SELECT pid FROM plink JOIN blob ON rid=pid WHERE cid=? AND isprim AND size>=0",
    rid,
  ) ?? 0;
}
