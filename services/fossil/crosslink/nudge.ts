/**
 * The timeline sorts by time. A check-in whose child is hardly younger, or even older, would stand
 * after it: its time in `event.mtime` is moved back in small steps.
 */
import type { LinkContext } from "./context.ts";

/** Children that are younger by less than this, in days, are looked at. */
const WINDOW_DAYS = 2 / 86_400;
/** Step by which times are moved, in days. */
const STEP_DAYS = 25 / 86_400_000;
/** How often the whole set is gone through at most, as in Fossil. */
const MAX_ROUNDS = 30;
/** Check-ins that are looked at around one that is new, so that no history makes a write slow. */
const MAX_NEIGHBOURS = 1000;

interface Moment {
  readonly rid: number;
  /** Julian day of the D card. */
  readonly day: number;
}

/** Remembers a child that is close in time to its parent. */
export function noteCloseChild(ctx: LinkContext, parent: Moment, child: Moment): void {
  if (child.day >= parent.day + WINDOW_DAYS) return;
  const nudge = { time: parent.day, child: child.rid, childTime: child.day };
  ctx.pending.nudges.set(parent.rid, nudge);
}

/** Moves the times of what was remembered, at the end of a transaction. */
export function applyNudges(ctx: LinkContext): void {
  const { nudges } = ctx.pending;
  if (nudges.size === 0) return;
  for (let round = 0; round < MAX_ROUNDS && stepBack(ctx); round++) {
    for (const nudge of nudges.values()) nudge.childTime = nudges.get(nudge.child)?.time ?? null;
  }
  for (const [rid, { time }] of nudges) {
    const update = "UPDATE event SET mtime=? WHERE objid=? AND (mtime=omtime OR omtime IS NULL)";
    ctx.db.run(update, time, rid);
  }
  nudges.clear();
}

/** One round; gives whether anything moved. */
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
 * Adds the close relatives of what was remembered. A rebuild sees all of history at once; a single
 * commit must look at the check-ins around it to come to the same times.
 */
export function widenNudges(ctx: LinkContext): void {
  const { nudges } = ctx.pending;
  const queue = [...nudges].flatMap(([rid, { child }]) => [rid, child]);
  const seen = new Set(queue);
  for (let i = 0; i < queue.length && i < MAX_NEIGHBOURS; i++) {
    for (const { pid, cid, before, after } of closeRelatives(ctx, queue[i]!)) {
      if (!nudges.has(pid)) nudges.set(pid, { time: before, child: cid, childTime: after });
      for (const rid of [pid, cid]) {
        if (!seen.has(rid)) queue.push(rid);
        seen.add(rid);
      }
    }
  }
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
