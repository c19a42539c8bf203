import { ancestryOf, commonAncestor } from "./ancestry.ts";
import { readTimelineCheckins } from "./checkins.ts";
import { pageOf, type Paging } from "./paging.ts";
import type { Reader } from "./reader.ts";
import { resolveCheckin } from "./resolve.ts";
import type { Comparison } from "./shapes.ts";

/** Two check-ins, and the page of check-ins to list. */
export interface ComparisonOptions extends Paging {
  /** Any name; absent for the tip of the main branch. */
  readonly from?: string;
  readonly to: string;
}

/**
 * The check-ins that `to` has and `from` lacks.
 *
 * @throws {FossilError} `missing` or `ambiguous` if a name fits none or several
 */
export function readComparison(reader: Reader, options: ComparisonOptions): Comparison {
  return reader.read(() => {
    const from = resolveCheckin(reader, options.from);
    const to = resolveCheckin(reader, options.to);
    const ancestry = ancestryOf(reader);
    const [ofFrom, ofTo] = [ancestry.ancestors(from.rid), ancestry.ancestors(to.rid)];
    const ahead: number[] = [];
    let behind = 0;
    for (let rid = 1; rid < ofTo.length; rid++) {
      if (ofTo[rid] === 1 && ofFrom[rid] === 0) ahead.push(rid);
      if (ofTo[rid] === 0 && ofFrom[rid] === 1) behind++;
    }
    const common = commonAncestor(reader, from.rid, to.rid);
    return {
      from: from.uuid,
      to: to.uuid,
      common: common === null ? null : reader.repository.store.hashOf(common) ?? null,
      ahead: ahead.length,
      behind,
      checkins: readTimelineCheckins(reader, newest(reader, ahead, options)),
    };
  });
}

/** A page of check-ins, the newest first. */
function newest(reader: Reader, rids: readonly number[], paging: Paging): number[] {
  const { limit, offset } = pageOf(paging);
  return reader.repository.db.rows<{ rid: number }>(
    `SELECT objid AS rid FROM json_each(?) AS wanted CROSS JOIN event ON objid=wanted.value
      ORDER BY mtime DESC, objid DESC LIMIT ? OFFSET ?`,
    JSON.stringify(rids),
    limit,
    offset,
  ).map(({ rid }) => rid);
}
