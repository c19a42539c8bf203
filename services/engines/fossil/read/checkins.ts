/** Converts rows of check-ins to the shapes of the results. */
import { shownText } from "../artifact/mod.ts";
import { fromJulianDay } from "../codec/mod.ts";
import { TAG } from "../content/mod.ts";
import type { Reader } from "./reader.ts";
import type { CheckinRef, TimelineCheckin } from "./shapes.ts";

/** Branch of a check-in that has no branch tag. */
export const DEFAULT_BRANCH = "trunk";

/** Columns of `event` and `blob` that make a `CheckinRef`. */
export const REF_COLUMNS = `blob.uuid, event.mtime,
  coalesce(event.euser,event.user,'') AS user, coalesce(event.ecomment,event.comment,'') AS comment`;

/** A row of `REF_COLUMNS`. */
export interface RefRow {
  readonly uuid: string;
  /** Julian day. */
  readonly mtime: number;
  readonly user: string;
  readonly comment: string;
}

/** A Julian day as ISO 8601. */
export function timestampOf(day: number): string {
  return new Date(fromJulianDay(day)).toISOString();
}

export function refOf({ uuid, mtime, user, comment }: RefRow): CheckinRef {
  return {
    uuid,
    timestamp: timestampOf(mtime),
    user: shownText(user, "name"),
    comment: shownText(comment, "comment"),
  };
}

/** The author, time and comment of an artifact; null if it is not in the timeline. */
export function readRef(reader: Reader, rid: number): CheckinRef | null {
  const select = `SELECT ${REF_COLUMNS} FROM event JOIN blob ON rid=objid WHERE objid=?`;
  const row = reader.repository.db.row<RefRow>(select, rid);
  return row === undefined ? null : refOf(row);
}

/** The same of several artifacts, by row; without those that are not in the timeline. */
export function readRefs(reader: Reader, rids: Iterable<number>): Map<number, CheckinRef> {
  const rows = reader.repository.db.rows<RefRow & { objid: number }>(
    `SELECT objid, ${REF_COLUMNS} FROM json_each(?) AS wanted CROSS JOIN event ON objid=wanted.value
       CROSS JOIN blob ON rid=objid`,
    JSON.stringify([...new Set(rids)]),
  );
  return new Map(rows.map((row) => [row.objid, refOf(row)]));
}

/** SQL of the branch of the check-in in a column. */
export function branchColumn(rid: string): string {
  return `coalesce((SELECT value FROM tagxref WHERE tagid=${TAG.branch} AND tagtype>0
    AND rid=${rid}),'${DEFAULT_BRANCH}')`;
}

const CHECKIN_COLUMNS = `event.objid, ${REF_COLUMNS}, ${branchColumn("event.objid")} AS branch,
  (SELECT json_group_array(substr(tagname,5)) FROM tagxref JOIN tag USING(tagid)
    WHERE tagxref.rid=event.objid AND tagtype>0 AND tagname GLOB 'sym-*') AS tags,
  (SELECT json_group_array(uuid) FROM (SELECT parent.uuid FROM plink JOIN blob AS parent
    ON parent.rid=pid WHERE cid=event.objid ORDER BY isprim DESC, plink.rowid)) AS parents,
  EXISTS(SELECT 1 FROM leaf WHERE leaf.rid=event.objid) AS isLeaf,
  EXISTS(SELECT 1 FROM tagxref WHERE tagid=${TAG.closed} AND tagtype>0
    AND tagxref.rid=event.objid) AS isClosed`;

interface CheckinRow extends RefRow {
  readonly objid: number;
  readonly branch: string;
  /** JSON. */
  readonly tags: string;
  /** JSON. */
  readonly parents: string;
  readonly isLeaf: number;
  readonly isClosed: number;
}

/** A check-in as the timeline shows it; null if the row is not a check-in. Needs `read`. */
export function readTimelineCheckin(reader: Reader, rid: number): TimelineCheckin | null {
  return readTimelineCheckins(reader, [rid])[0] ?? null;
}

/** Most cached check-ins, and the approximate memory of each, in bytes. */
const [MAX_KEPT, KEPT_BYTES] = [2_000, 800];

/**
 * Check-ins as the timeline shows them, in the order of the rows; skips other rows. The newest ones
 * are requested often, so they are cached.
 */
export function readTimelineCheckins(reader: Reader, rids: readonly number[]): TimelineCheckin[] {
  const kept = reader.cached("check-ins", () => {
    return { value: new Map<number, TimelineCheckin>(), bytes: MAX_KEPT * KEPT_BYTES };
  });
  const unknown = rids.filter((rid) => !kept.has(rid));
  const fresh = new Map(unknown.length === 0 ? [] : readRows(reader, unknown));
  const checkins = rids.flatMap((rid) => kept.get(rid) ?? fresh.get(rid) ?? []);
  if (kept.size + fresh.size > MAX_KEPT) kept.clear();
  if (fresh.size > MAX_KEPT) return checkins;
  for (const [rid, checkin] of fresh) kept.set(rid, checkin);
  return checkins;
}

function readRows(reader: Reader, rids: readonly number[]): [number, TimelineCheckin][] {
  return reader.repository.db.rows<CheckinRow>(
    `SELECT ${CHECKIN_COLUMNS} FROM json_each(?) AS wanted CROSS JOIN event ON objid=wanted.value
       CROSS JOIN blob ON blob.rid=objid`,
    JSON.stringify(rids),
  ).map((row) => [row.objid, checkinOf(row)]);
}

function checkinOf(row: CheckinRow): TimelineCheckin {
  const parents: string[] = JSON.parse(row.parents);
  const tags: string[] = JSON.parse(row.tags);
  return {
    ...refOf(row),
    branch: shownText(row.branch, "name"),
    tags: tags.filter((tag) => tag !== row.branch).map((tag) => shownText(tag, "name")).sort(),
    parents,
    is_merge: parents.length > 1,
    is_leaf: row.isLeaf === 1,
    is_closed: row.isClosed === 1,
  };
}
