/**
 * Names of check-ins and other artifacts, as the program resolves them: keywords, dates, symbolic
 * names, prefixes of hashes; and, if nothing else has the name, hashes of Git's commits.
 *
 * @see {@link https://fossil-scm.org/home/doc/trunk/www/checkin_names.wiki}
 */
import { isHex } from "../codec/mod.ts";
import { mainBranch, TAG } from "../content/mod.ts";
import { FossilError } from "../error.ts";
import type { Reader } from "./reader.ts";

/** An artifact that a name stands for. */
export interface Resolved {
  readonly rid: number;
  readonly uuid: string;
}

/** A hash of Git, or a prefix of one that is as long as Git shows at least. */
const COMMIT = /^[0-9a-f]{7,40}$/;

/** Accepted `event.type`: check-ins, or anything. */
type EventPattern = "ci" | "*";

/** Shortest prefix of a hash. */
const MIN_PREFIX = 4;
const MAX_HASH = 64;
/** Longest name that can resolve, in UTF-16 units. */
const MAX_NAME = 1000;
/** Longest name that is repeated in an error, in UTF-16 units. */
const MAX_SHOWN = 100;
/** Events to search first, because most common names are on one of them. */
const RECENT = 50;
/** Upper bound of a prefix search: the character after the digits. */
const PAST_HEX = "g";

/**
 * The check-in that a name stands for; without a name the newest check-in of the main branch.
 *
 * @throws {FossilError} `missing` if there is none; `ambiguous` if a prefix fits several.
 */
export function resolveCheckin(reader: Reader, name?: string): Resolved {
  return reader.read(() => {
    if (name !== undefined) return resolve(reader, name, "ci");
    return named(reader, mainTip(reader), "tip");
  });
}

/** Row of the newest check-in of the main branch, or else of any branch. Needs `read`. */
function mainTip(reader: Reader): number {
  return reader.cached("main tip", () => {
    const main = mainBranch(reader.repository);
    return { value: newestTagged(reader, main, "ci") || newest(reader, "ci", null), bytes: 100 };
  });
}

/** Like `resolveCheckin`, for an artifact of any kind, files included. */
export function resolveArtifact(reader: Reader, name: string): Resolved {
  return reader.read(() => resolve(reader, name, "*"));
}

function resolve(reader: Reader, name: string, type: EventPattern): Resolved {
  const rid = name.length > MAX_NAME ? 0 : ridOf(reader, name, type);
  return named(reader, rid || (COMMIT.test(name) ? reader.commitNamed(name) : 0), name);
}

function named(reader: Reader, rid: number, name: string): Resolved {
  const uuid = rid === 0 ? undefined : reader.repository.store.hashOf(rid);
  if (uuid !== undefined) return { rid, uuid };
  const shown = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name;
  throw new FossilError("missing", `No check-in, branch, tag or artifact is called "${shown}"`);
}

/** Row of a name; 0 if it resolves to nothing. */
function ridOf(reader: Reader, name: string, type: EventPattern): number {
  if (name === "") return 0;
  if (name === "tip") return newest(reader, "ci", null);
  return dated(reader, name, type) ??
    prefixed(reader, name, type) ??
    taggedUntil(reader, name, type) ??
    (byHash(reader, name, type) || newestTagged(reader, name, type) ||
      digits(reader, name, type) || relative(reader, name));
}

/**
 * `current`, `prev`, `previous` and `next` are relative to a checkout. A repository file has none,
 * so they are relative to the tip of the main branch, unless something has such a name.
 */
function relative(reader: Reader, name: string): number {
  switch (name) {
    case "current":
      return mainTip(reader);
    case "prev":
    case "previous":
      return primaryParent(reader, mainTip(reader));
    case "next":
      return firstChild(reader, mainTip(reader));
    default:
      return 0;
  }
}

function firstChild(reader: Reader, rid: number): number {
  const select = "SELECT cid FROM plink WHERE pid=? ORDER BY isprim DESC, mtime DESC";
  return reader.repository.db.value<number>(select, rid) ?? 0;
}

/** `date:…`, `utc:…`, `local:…`, or a plain date; undefined if the name is none of these. */
function dated(reader: Reader, name: string, type: EventPattern): number | undefined {
  const prefix = /^(?:date|utc|local):/.exec(name)?.[0];
  if (prefix !== undefined) {
    const text = name.slice(prefix.length);
    return newestUntil(reader, expandDigits(text) ?? text, type);
  }
  if (!isDate(name)) return undefined;
  return newestUntil(reader, name, type) || undefined;
}

/** `tag:…`, `rid:…`, `root:…`, `start:…`, `merge-in:…`. */
function prefixed(reader: Reader, name: string, type: EventPattern): number | undefined {
  if (/^rid:\d{1,15}$/.test(name)) return byRow(reader, Number(name.slice("rid:".length)), type);
  const match = /^(tag|root|start|merge-in):/.exec(name);
  if (match === null) return undefined;
  const rest = name.slice(match[0].length);
  if (match[1] === "tag") return newestTagged(reader, rest, type);
  const rid = ridOf(reader, rest, type);
  if (rid === 0) return 0;
  if (match[1] === "merge-in") return lastMergeIn(reader, rid);
  const { root, first } = branchStart(reader, rid);
  return match[1] === "root" ? root : first;
}

function byRow(reader: Reader, rid: number, type: EventPattern): number {
  const { db } = reader.repository;
  const event = "SELECT 1 FROM event WHERE objid=? AND type='ci'";
  return type === "*" || db.exists(event, rid) ? rid : 0;
}

/** `TAG:DATE`: the newest check-in of a name until a date. */
function taggedUntil(reader: Reader, name: string, type: EventPattern): number | undefined {
  const colon = name.indexOf(":");
  if (colon < 0) return undefined;
  const text = name.slice(colon + 1).replace(/utc$/i, "z");
  const date = expandDigits(text) ?? (isDate(text) ? text : null);
  if (date === null) return undefined;
  return newestTagged(reader, name.slice(0, colon), type, date);
}

/** A hash or a prefix of one, with or without brackets. 0 if it is neither. */
function byHash(reader: Reader, name: string, type: EventPattern): number {
  const prefix = name.replace(/^\[/, "").replace(/\]$/, "").toLowerCase();
  if (prefix.length < MIN_PREFIX || prefix.length > MAX_HASH || !isHex(prefix)) return 0;
  const event = type === "ci"
    ? "AND EXISTS(SELECT 1 FROM event WHERE objid=rid AND type='ci')"
    : "";
  const rows = reader.repository.db.rows<{ rid: number }>(
    `SELECT rid FROM blob WHERE uuid>=? AND uuid<? ${event} LIMIT 2`,
    prefix,
    prefix + PAST_HEX,
  );
  if (rows.length > 1) throw new FossilError("ambiguous", `"${name}" fits several artifacts`);
  return rows[0]?.rid ?? 0;
}

/** Newest artifact that has a symbolic name, 0 for none. */
function newestTagged(reader: Reader, tag: string, type: EventPattern, until?: string): number {
  const { db } = reader.repository;
  const name = `sym-${tag}`;
  const bound = until === undefined ? "" : "AND event.mtime<=julianday(?)";
  const bounds = until === undefined ? [] : [until];
  const recent = db.value<number>(
    `SELECT objid FROM (SELECT objid FROM event WHERE type GLOB ? ${bound}
        ORDER BY mtime DESC, objid DESC LIMIT ${RECENT})
      WHERE EXISTS(SELECT 1 FROM tagxref WHERE rid=objid AND tagtype>0
        AND tagid=(SELECT tagid FROM tag WHERE tagname=?)) LIMIT 1`,
    type,
    ...bounds,
    name,
  );
  return recent ?? db.value<number>(
    `SELECT objid FROM tag CROSS JOIN tagxref USING(tagid) CROSS JOIN event ON objid=tagxref.rid
      WHERE tagname=? AND tagtype>0 AND event.type GLOB ? ${bound}
      ORDER BY event.mtime DESC, objid DESC LIMIT 1`,
    name,
    type,
    ...bounds,
  ) ?? 0;
}

/** A date of digits only: 20260102, or with the time. */
function digits(reader: Reader, name: string, type: EventPattern): number {
  const date = expandDigits(name);
  return date === null ? 0 : newestUntil(reader, date, type);
}

function newestUntil(reader: Reader, date: string, type: EventPattern): number {
  return newest(reader, type, date);
}

function newest(reader: Reader, type: EventPattern, until: string | null): number {
  const bound = until === null ? "" : "AND mtime<=julianday(?)";
  return reader.repository.db.value<number>(
    `SELECT objid FROM event WHERE type GLOB ? ${bound} ORDER BY mtime DESC, objid DESC LIMIT 1`,
    type,
    ...(until === null ? [] : [until]),
  ) ?? 0;
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d/.test(text);
}

/** A date of 8, 12 or 14 digits, with punctuation added; null if the text is not one. */
function expandDigits(text: string): string | null {
  const match = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?$/.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour = "00", minute = "00", second = "00"] = match;
  const inRange = Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 &&
    Number(day) <= 31 && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
  return inRange ? `${year}-${month}-${day} ${hour}:${minute}:${second}` : null;
}

/** The branch that a tag puts a check-in on; null if none does. */
function branchOf(reader: Reader, rid: number): string | null {
  return reader.repository.db.value<string | null>(
    `SELECT value FROM tagxref WHERE tagid=${TAG.branch} AND tagtype>0 AND rid=?`,
    rid,
  ) ?? null;
}

function primaryParent(reader: Reader, rid: number): number {
  const select = "SELECT pid FROM plink WHERE cid=? AND isprim";
  return reader.repository.db.value<number>(select, rid) ?? 0;
}

/**
 * Goes back along a branch: finds its first check-in, and the check-in of another branch that it
 * starts from. As in the program, check-ins without a branch tag form a separate branch.
 */
function branchStart(reader: Reader, rid: number): { root: number; first: number } {
  const branch = branchOf(reader, rid);
  const seen = new Set<number>();
  let first = rid;
  for (;;) {
    seen.add(first);
    const parent = primaryParent(reader, first);
    if (parent === 0 || seen.has(parent)) return { root: first, first };
    if (branch === null || branchOf(reader, parent) !== branch) return { root: parent, first };
    first = parent;
  }
}

/**
 * The last check-in of the parent branch that a branch contains: its start, or a later merge.
 * Visits ancestors from the newest on, each after one of its children. 0 if no tag puts the start
 * on a branch.
 */
function lastMergeIn(reader: Reader, rid: number): number {
  const origin = branchOf(reader, branchStart(reader, rid).root);
  if (origin === null) return 0;
  return reader.repository.db.value<number>(
    `WITH RECURSIVE ancestor(id, day) AS (
       SELECT objid, mtime FROM event WHERE objid=?
       UNION SELECT pid, event.mtime FROM ancestor
         CROSS JOIN plink ON cid=ancestor.id CROSS JOIN event ON objid=pid
       ORDER BY 2 DESC
     ) SELECT id FROM ancestor CROSS JOIN tagxref ON tagxref.rid=id
        WHERE tagid=${TAG.branch} AND tagtype>0 AND value=? LIMIT 1`,
    rid,
    origin,
  ) ?? 0;
}
