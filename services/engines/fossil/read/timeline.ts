import { firstIndex } from "../../../kernel/first_index.ts";
import { parseDate, toJulianDay } from "../codec/mod.ts";
import type { SqlValue } from "../content/mod.ts";
import { FossilError } from "../error.ts";
import { branchColumn, readTimelineCheckins, REF_COLUMNS, refOf, type RefRow } from "./checkins.ts";
import { normalizePath } from "./manifests.ts";
import { pageOf, type Paging } from "./paging.ts";
import type { Reader } from "./reader.ts";
import { resolveCheckin } from "./resolve.ts";
import type {
  Activity,
  EventKind,
  GraphLink,
  GraphRow,
  Timeline,
  TimelineCheckin,
} from "./shapes.ts";

/** Which check-ins to list; every condition must hold. */
export interface TimelineOptions extends Paging {
  readonly branch?: string;
  readonly user?: string;
  /** Only check-ins that change this file, or anything below this folder. */
  readonly path?: string;
  /** Only check-ins before a moment (ISO 8601) or a check-in of any name, that one excluded. */
  readonly before?: string;
  /** Like `before`, for check-ins after it. */
  readonly after?: string;
  /** Adds the graph beside each check-in. */
  readonly graph?: boolean;
}

/** A condition on `event`. */
interface Condition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/**
 * A page of check-ins, newest first by the time of the event, then by the newest row.
 *
 * @throws {FossilError} `missing` or `ambiguous` if a moment is neither a date nor a check-in;
 * `missing` if no check-in is on the branch, or none changes the path.
 */
export function readTimeline(reader: Reader, options: TimelineOptions = {}): Timeline {
  return reader.read(() => {
    const conditions = [
      { sql: "event.type='ci'", values: [] },
      ...commonConditions(reader, options),
    ];
    if (options.branch !== undefined) conditions.push(isOnBranch(options.branch));
    if (options.path !== undefined) conditions.push(changesPath(options.path));
    const { rids, total } = select(reader, conditions, options);
    if (total === 0) requireNamed(reader, options);
    const checkins = readTimelineCheckins(reader, rids);
    return options.graph === true
      ? { checkins, total, graph: graphRows(checkins) }
      : { checkins, total };
  });
}

/** An unknown name in a condition is an error, not an empty list. */
function requireNamed(reader: Reader, { branch, path }: TimelineOptions): void {
  const { db } = reader.repository;
  const of = (condition: Condition) => `SELECT 1 FROM event WHERE type='ci' AND ${condition.sql}`;
  for (
    const [what, name, condition] of [
      ["branch", branch, isOnBranch],
      ["file", path, changesPath],
    ] as const
  ) {
    if (name === undefined) continue;
    const wanted = condition(name);
    if (db.exists(of(wanted), ...wanted.values)) continue;
    throw new FossilError("missing", `There is no ${what} "${name}"`);
  }
}

function isOnBranch(branch: string): Condition {
  return { sql: `${branchColumn("event.objid")}=?`, values: [branch] };
}

/** Which events to list; every condition must hold. */
export interface ActivityOptions extends Paging {
  /** All if absent. */
  readonly kinds?: readonly EventKind[];
  readonly user?: string;
  /** As in `TimelineOptions`. */
  readonly before?: string;
  readonly after?: string;
}

/** `event.type` of each kind. */
const EVENT_TYPES: Readonly<Record<EventKind, string>> = {
  checkin: "ci",
  wiki: "w",
  ticket: "t",
  technote: "e",
  forum: "f",
  tag: "g",
};

const EVENT_KINDS = new Map(
  Object.entries(EVENT_TYPES).map(([kind, type]) => [type, kind as EventKind]),
);

interface EventRow extends RefRow {
  readonly type: string;
  readonly isPending: number;
}

/** A page of events of any kind, newest first. Throws like `readTimeline`. */
export function readActivity(reader: Reader, options: ActivityOptions = {}): Activity {
  return reader.read(() => {
    const conditions = commonConditions(reader, options);
    if (options.kinds !== undefined) {
      const types = options.kinds.map((kind) => EVENT_TYPES[kind]);
      const places = types.map(() => "?").join(",");
      conditions.push({ sql: `event.type IN (${places})`, values: types });
    }
    const { rids, total } = select(reader, conditions, options);
    const isPending = reader.repository.db.hasTable("modreq")
      ? "EXISTS(SELECT 1 FROM modreq WHERE modreq.objid=event.objid)"
      : "0";
    const row =
      `SELECT event.type, ${isPending} AS isPending, ${REF_COLUMNS} FROM event JOIN blob ON rid=objid WHERE objid=?`;
    const events = rids.flatMap((rid) => {
      const found = reader.repository.db.row<EventRow>(row, rid);
      const kind = EVENT_KINDS.get(found?.type ?? "");
      if (found === undefined || kind === undefined) return [];
      return [{ kind, ...refOf(found), awaits_approval: found.isPending === 1 }];
    });
    return { events, total };
  });
}

function commonConditions(
  reader: Reader,
  { user, before, after }: { user?: string; before?: string; after?: string },
): Condition[] {
  const conditions: Condition[] = [];
  if (user !== undefined) {
    conditions.push({ sql: "coalesce(event.euser,event.user)=?", values: [user] });
  }
  if (before !== undefined) {
    const day = momentOf(reader, before) - HALF_MS;
    conditions.push({ sql: "event.mtime<?", values: [day] });
  }
  if (after !== undefined) {
    const day = momentOf(reader, after) + HALF_MS;
    conditions.push({ sql: "event.mtime>?", values: [day] });
  }
  return conditions;
}

/** Half a millisecond in days: closer times are equal. */
const HALF_MS = 0.5 / 86_400_000;

/** Julian day of a date, or of a named check-in. */
function momentOf(reader: Reader, name: string): number {
  const date = parseDate(name);
  if (date !== null) return toJulianDay(date);
  const { rid } = resolveCheckin(reader, name);
  const day = reader.repository.db.value<number>("SELECT mtime FROM event WHERE objid=?", rid);
  if (day === undefined) throw new FossilError("missing", `"${name}" names no check-in`);
  return day;
}

function changesPath(path: string): Condition {
  const file = normalizePath(path);
  return {
    sql: `event.objid IN (SELECT mid FROM mlink WHERE fnid IN
      (SELECT fnid FROM filename WHERE name=? OR (name>? AND name<?)))`,
    values: [file, `${file}/`, `${file}${PAST_SLASH}`],
  };
}

/** The character after "/": paths below a folder sort before the folder's name with it. */
const PAST_SLASH = "0";

/** Rows of the page, and how many match at all. */
function select(
  reader: Reader,
  conditions: readonly Condition[],
  paging: Paging,
): { rids: number[]; total: number } {
  const { db } = reader.repository;
  const { limit, offset } = pageOf(paging);
  const where = conditions.map(({ sql }) => sql).join(" AND ") || "1";
  const values = conditions.flatMap((condition) => condition.values);
  if (conditions.length > 1) {
    // A condition is looked at for every event, so all pages come from one look.
    const all = reader.lasting(
      `events ${where} ${JSON.stringify(values)}`,
      () => sizedRows(selected(reader, where, values).map(({ objid }) => objid)),
      ({ value }, touched) => sizedRows(updatedRows(reader, value, touched, where, values)),
    );
    return { rids: [...all.subarray(offset, offset + limit)], total: all.length };
  }
  const total = reader.cached(`total ${where} ${JSON.stringify(values)}`, () => {
    const count = db.value<number>(`SELECT count(*) FROM event WHERE ${where}`, ...values) ?? 0;
    return { value: count, bytes: 200 };
  });
  const rows = db.rows<{ objid: number }>(
    `SELECT objid FROM event WHERE ${where} ORDER BY mtime DESC, objid DESC LIMIT ? OFFSET ?`,
    ...values,
    limit,
    offset,
  );
  return { rids: rows.map(({ objid }) => objid), total };
}

/** A row of `event`, with what sorts it. */
interface SelectedRow {
  readonly objid: number;
  readonly mtime: number;
}

/** The events that match, newest first. */
function selected(reader: Reader, where: string, values: readonly SqlValue[]): SelectedRow[] {
  return reader.repository.db.rows<SelectedRow>(
    `SELECT objid, mtime FROM event WHERE ${where} ORDER BY mtime DESC, objid DESC`,
    ...values,
  );
}

function sizedRows(rids: readonly number[] | Int32Array): { value: Int32Array; bytes: number } {
  const value = Int32Array.from(rids);
  return { value, bytes: 200 + value.byteLength };
}

/** What becomes of selected events where some were written since. */
function updatedRows(
  reader: Reader,
  before: Int32Array,
  touched: readonly number[],
  where: string,
  values: readonly SqlValue[],
): Int32Array {
  const { db } = reader.repository;
  const written = new Set(touched);
  const rids = [
    ...before.some((rid) => written.has(rid)) ? before.filter((rid) => !written.has(rid)) : before,
  ];
  const of = `objid IN (SELECT value FROM json_each(?)) AND (${where})`;
  for (const { objid, mtime } of selected(reader, of, [JSON.stringify(touched), ...values])) {
    const place = firstIndex(rids.length, (index) => {
      const rid = rids[index]!;
      const other = db.value<number>("SELECT mtime FROM event WHERE objid=?", rid) ?? 0;
      return other < mtime || (other === mtime && rid < objid);
    });
    rids.splice(place, 0, objid);
  }
  return Int32Array.from(rids);
}

/**
 * Lays out the lines of a graph beside check-ins that are listed newest first. A line runs in its
 * lane from a child down to its parent; a parent that is not listed lets its line run off the end.
 * Each check-in stands in the lane of the first line that comes down to it.
 */
function graphRows(checkins: readonly TimelineCheckin[]): GraphRow[] {
  /** By lane: the check-in that the line comes down to, null for a free lane. */
  const lanes: (string | null)[] = [];
  return checkins.map(({ uuid, parents }) => {
    const lane = laneTo(lanes, uuid);
    for (const [i, target] of lanes.entries()) {
      if (target === uuid) lanes[i] = null;
    }
    const passing = lanes.flatMap((target, i) => target === null ? [] : [i]);
    const links = parents.map((parent, i): GraphLink => {
      const own = i === 0 && !lanes.includes(parent) ? lane : laneTo(lanes, parent);
      lanes[own] = parent;
      return { parent, lane: own, is_merge: i > 0 };
    });
    return { lane, passing, links };
  });
}

/** The lane of the line that comes down to a check-in, else the first free one. */
function laneTo(lanes: readonly (string | null)[], uuid: string): number {
  const known = lanes.indexOf(uuid);
  if (known >= 0) return known;
  const free = lanes.indexOf(null);
  return free >= 0 ? free : lanes.length;
}
