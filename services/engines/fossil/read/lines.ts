import { mainBranch, TAG } from "../content/mod.ts";
import { commonAncestor } from "./ancestry.ts";
import type { Reader } from "./reader.ts";
import { resolveCheckin } from "./resolve.ts";
import type { Line } from "./shapes.ts";

/** A line of check-ins to find. */
export interface LineOptions {
  readonly branch: string;
  /** Full hash of the check-in that starts the line. */
  readonly start: string;
  /**
   * Branch to which the line will be merged, null for the main branch; `base` is what the two have
   * in common.
   */
  readonly target?: string | null;
  /** Whether it may have begun anew elsewhere, with another check-in of the same branch. */
  readonly mayRestart?: boolean;
}

interface LineRow {
  readonly rid: number;
  readonly uuid: string;
  readonly isLeaf: number;
  readonly isClosed: number;
  readonly isMerge: number;
  /** Whether it changes no file, as the check-in that only begins a branch. */
  readonly isEmpty: number;
}

/** SQL of whether the check-in of a column is closed. */
const isClosed = (rid: string) =>
  `EXISTS(SELECT 1 FROM tagxref WHERE tagid=${TAG.closed} AND tagtype>0 AND tagxref.rid=${rid})`;

/**
 * The check-ins of a branch that descend from its start, without those of a line of the same name.
 */
const LINE = `WITH RECURSIVE line(rid) AS (
    SELECT ? UNION SELECT cid FROM line CROSS JOIN plink ON pid=line.rid AND isprim
      CROSS JOIN tagxref ON tagxref.rid=cid AND tagid=${TAG.branch} AND tagtype>0 AND value=?
  ) SELECT line.rid, uuid, EXISTS(SELECT 1 FROM leaf WHERE leaf.rid=line.rid) AS isLeaf,
      ${isClosed("line.rid")} AS isClosed,
      EXISTS(SELECT 1 FROM plink WHERE cid=line.rid AND NOT isprim) AS isMerge,
      NOT EXISTS(SELECT 1 FROM mlink WHERE mid=line.rid) AS isEmpty
    FROM line CROSS JOIN blob ON blob.rid=line.rid CROSS JOIN event ON objid=line.rid
    ORDER BY event.mtime DESC, line.rid DESC`;

/**
 * Lines of check-ins: each is one branch from a certain start. So two branches of one name, one
 * after the other, are two lines.
 *
 * @throws {FossilError} `missing` if a start is unknown
 */
export function readLines(reader: Reader, lines: readonly LineOptions[]): readonly Line[] {
  return reader.read(() => lines.map((line) => readLine(reader, line)));
}

function readLine(reader: Reader, options: LineOptions): Line {
  const { branch, start, target, mayRestart = false } = options;
  const { rid } = resolveCheckin(reader, start);
  const rows = reader.repository.db.rows<LineRow>(LINE, rid, branch);
  const leaves = rows.filter((row) => row.isLeaf === 1);
  const tip = leaves.find((row) => row.isClosed === 0) ?? leaves[0] ?? rows[0];
  const restart = mayRestart && tip?.isClosed === 1 ? startOf(reader, branch) : rid;
  if (restart !== rid && restart !== 0) {
    return readLine(reader, { ...options, start: hashOf(reader, restart)!, mayRestart: false });
  }
  const isMerged = rows.some((row) => row.isMerge === 1);
  const base = isMerged && target !== undefined
    ? commonWith(reader, tip?.rid ?? rid, target ?? mainBranch(reader.repository))
    : null;
  return {
    tip: tip?.uuid ?? start,
    leaves: leaves.map(({ uuid }) => uuid),
    is_closed: tip?.isClosed === 1,
    checkins: rows.length,
    begins_empty: rows.some((row) => row.rid === rid && row.isEmpty === 1),
    base: hashOf(reader, base ?? primaryParent(reader, rid)) ?? start,
  };
}

/** The first check-in of the newest open line of a branch; 0 if it has none. */
function startOf(reader: Reader, branch: string): number {
  const { db } = reader.repository;
  const tip = tipOf(reader, branch);
  return tip === null ? 0 : db.value<number>(
    `WITH RECURSIVE line(rid, depth) AS (
       SELECT ?, 0 UNION SELECT pid, depth+1 FROM line CROSS JOIN plink ON cid=line.rid AND isprim
         CROSS JOIN tagxref ON tagxref.rid=pid AND tagid=${TAG.branch} AND tagtype>0 AND value=?
     ) SELECT rid FROM line ORDER BY depth DESC LIMIT 1`,
    tip,
    branch,
  ) ?? 0;
}

/** The primary parent of a check-in, 0 for none. The ancestry would be read anew after each write. */
function primaryParent({ repository: { db } }: Reader, rid: number): number {
  return db.value<number>("SELECT pid FROM plink WHERE cid=? AND isprim", rid) ?? 0;
}

/** The newest check-in that a check-in and a branch have in common; null for none. */
function commonWith(reader: Reader, rid: number, target: string): number | null {
  const other = tipOf(reader, target);
  return other === null ? null : commonAncestor(reader, rid, other);
}

/** A check-in that merges another one. */
export interface MergeOf {
  readonly uuid: string;
  readonly branch: string;
}

/**
 * The check-ins that merge a check-in, oldest first.
 *
 * @throws {FossilError} `missing` if the check-in is unknown
 */
export function readMergesOf(reader: Reader, checkin: string): readonly MergeOf[] {
  return reader.read(() => {
    const { rid } = resolveCheckin(reader, checkin);
    return reader.repository.db.rows<MergeOf>(
      `SELECT uuid, coalesce(value,'') AS branch FROM plink CROSS JOIN blob ON blob.rid=cid
        LEFT JOIN tagxref ON tagxref.rid=cid AND tagid=${TAG.branch} AND tagtype>0
        WHERE pid=? AND NOT isprim ORDER BY plink.mtime, cid`,
      rid,
    ).map(({ uuid, branch }) => ({ uuid, branch }));
  });
}

/** The newest open leaf of a branch; null if it has none. */
export function readBranchTip(reader: Reader, branch: string): string | null {
  return reader.read(() => {
    const rid = tipOf(reader, branch);
    return rid === null ? null : hashOf(reader, rid) ?? null;
  });
}

function tipOf({ repository: { db } }: Reader, branch: string): number | null {
  return db.value<number>(
    `SELECT leaf.rid FROM leaf CROSS JOIN tagxref ON tagxref.rid=leaf.rid
       AND tagxref.tagid=${TAG.branch} AND tagtype>0 AND value=?
      CROSS JOIN event ON objid=leaf.rid
      WHERE NOT ${isClosed("leaf.rid")} ORDER BY event.mtime DESC, leaf.rid DESC LIMIT 1`,
    branch,
  ) ?? null;
}

function hashOf({ repository }: Reader, rid: number): string | undefined {
  return rid === 0 ? undefined : repository.store.hashOf(rid);
}
