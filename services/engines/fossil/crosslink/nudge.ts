/**
 * The timeline sorts by time. A check-in whose child is hardly younger, or even older, would come
 * after it. So its time in `event.mtime` is moved back in small steps.
 */
import { rebuildPositions } from "../content/mod.ts";
import type { LinkContext, Nudge } from "./context.ts";

/** Children that are younger by less than this, in days, count. */
const WINDOW_DAYS = 2 / 86_400;
/** Step by which times are moved, in days. */
const STEP_DAYS = 25 / 86_400_000;
/** Most passes over the whole set, as in Fossil. */
const MAX_ROUNDS = 30;
/** Most check-ins examined around a new one, so that no history makes a write slow. */
const MAX_NEIGHBOURS = 1000;

interface Moment {
  readonly rid: number;
  /** Julian day of the D card. */
  readonly day: number;
}

/** Remembers a child that is close in time to its parent. */
export function noteCloseChild(ctx: LinkContext, parent: Moment, child: Moment): void {
  if (child.day >= parent.day + WINDOW_DAYS) return;
  ctx.pending.nudges.set(parent.rid, nudgeOf(parent.day, child));
}

function nudgeOf(parentDay: number, child: Moment): Nudge {
  const [start, childTime] = [parentDay, child.day].map(truncated) as [number, number];
  return { start, time: start, child: child.rid, childTime };
}

/** The program writes these times with 16 digits, so their resolution is 0.1 ms. */
function truncated(day: number): number {
  return Number(day.toFixed(20).slice(0, PRINTED_LENGTH));
}

/** Seven digits, a point and nine more. */
const PRINTED_LENGTH = 17;

/** Moves the times of the remembered check-ins, at the end of a transaction. */
export function applyNudges(ctx: LinkContext): void {
  const { nudges } = ctx.pending;
  if (nudges.size === 0) return;
  for (let round = 0; round < MAX_ROUNDS && stepBack(ctx); round++) {
    for (const nudge of nudges.values()) nudge.childTime = nudges.get(nudge.child)?.time ?? null;
  }
  for (const [rid, { time, start }] of nudges) {
    if (time === start) continue;
    const update = "UPDATE event SET mtime=? WHERE objid=? AND (mtime=omtime OR omtime IS NULL)";
    ctx.db.run(update, time, rid);
    ctx.relinked++;
  }
  nudges.clear();
}

/** One pass; returns whether anything moved. */
function stepBack(ctx: LinkContext): boolean {
  let moved = false;
  for (const nudge of ctx.pending.nudges.values()) {
    const { time, childTime } = nudge;
    if (childTime === null || time < childTime || time >= childTime + WINDOW_DAYS) continue;
    nudge.time = childTime - STEP_DAYS;
    moved = true;
  }
  return moved;
}

interface LinkRow {
  readonly pid: number;
  readonly cid: number;
  readonly before: number;
  readonly after: number;
}

/**
 * Adds the close relatives of the remembered check-ins, if one of these moves. A rebuild sees all of
 * history at once; a single commit must look at the check-ins around it to get the same times.
 */
export function widenNudges(ctx: LinkContext): void {
  const { nudges } = ctx.pending;
  if (![...nudges.values()].some((nudge) => mayMove(ctx, nudge))) return;
  const queue = [...nudges].flatMap(([rid, { child }]) => [rid, child]);
  const seen = new Set(queue);
  for (let i = 0; i < queue.length && i < MAX_NEIGHBOURS; i++) {
    for (const { pid, cid, before, after } of closeRelatives(ctx, queue[i]!)) {
      if (!nudges.has(pid)) nudges.set(pid, nudgeOf(before, { rid: cid, day: after }));
      for (const rid of [pid, cid]) {
        if (!seen.has(rid)) queue.push(rid);
        seen.add(rid);
      }
    }
  }
}

/** Whether the child is no younger than its parent, or was moved itself. */
function mayMove(ctx: LinkContext, { start, child, childTime }: Nudge): boolean {
  if (childTime !== null && start >= childTime) return true;
  return ctx.db.exists("SELECT 1 FROM event WHERE objid=? AND mtime<>omtime", child);
}

/** Pairs of parent and child around a check-in that are close in time, by their own dates. */
function closeRelatives(ctx: LinkContext, rid: number): LinkRow[] {
  return ctx.db.rows<LinkRow>(
    `SELECT plink.pid, plink.cid, parent.omtime AS before, plink.mtime AS after
       FROM plink JOIN event AS parent ON parent.objid=plink.pid AND parent.type='ci'
      WHERE (plink.pid=? OR plink.cid=?) AND plink.mtime < parent.omtime + ?
      ORDER BY plink.cid DESC`,
    rid,
    rid,
    WINDOW_DAYS,
  );
}

interface CloseRow extends LinkRow {
  /** 1 if `mlink` has no changed files between the two. */
  readonly isEmpty: number;
  /** The primary parent, if `mlink` has no changed files between it and the child; else 0. */
  readonly emptyPrimary: number;
}

/**
 * Remembers all children of the repository that are close in time to their parents, replacing those
 * that this transaction has remembered. Of several children, the one counts that the program's
 * rebuild links last. When that links a parent, it links the pairs without changed files again, and
 * the other parents too if it is the primary one.
 */
export function noteAllCloseChildren(ctx: LinkContext): void {
  ctx.pending.nudges.clear();
  const rows = ctx.db.rows<CloseRow>(
    `SELECT pair.pid, pair.cid, parent.omtime AS before, child.omtime AS after,
       NOT EXISTS(SELECT 1 FROM mlink WHERE mid=pair.cid AND pmid=pair.pid) AS isEmpty,
       coalesce((SELECT p.pid FROM plink AS p WHERE p.cid=pair.cid AND p.isprim
         AND NOT EXISTS(SELECT 1 FROM mlink WHERE mid=p.cid AND pmid=p.pid)), 0) AS emptyPrimary
     FROM (SELECT pid, cid FROM plink UNION
           SELECT parentid, childid FROM cherrypick WHERE NOT isExclude) AS pair
       JOIN event AS parent ON parent.objid=pid AND parent.type='ci'
       JOIN event AS child ON child.objid=cid AND child.type='ci'
     WHERE child.omtime < parent.omtime + ?
     ORDER BY pid, cid`,
    WINDOW_DAYS,
  );
  const hasRivals = rows.some(({ pid }, index) => rows[index - 1]?.pid === pid);
  const positions = hasRivals ? rebuildPositions(ctx.db) : new Int32Array(0);
  const linkedAt = ({ pid, cid, isEmpty, emptyPrimary }: CloseRow) => {
    const again = isEmpty === 0 ? [] : [pid, emptyPrimary];
    return Math.max(...[cid, ...again].map((rid) => positions[rid] ?? -1));
  };
  let [parent, last] = [0, -1];
  for (const row of rows) {
    const at = linkedAt(row);
    if (row.pid === parent && at < last) continue;
    [parent, last] = [row.pid, at];
    ctx.pending.nudges.set(row.pid, nudgeOf(row.before, { rid: row.cid, day: row.after }));
  }
}
