import type { GraphLink, GraphRow, TimelineCheckin } from "./shapes.ts";

/**
 * Lays out the lines of a graph beside check-ins that are listed newest first. A line runs in its
 * lane from a child down to its parent; a parent that is not listed lets its line run off the end.
 * Each check-in stands in the lane of the first line that comes down to it.
 */
export function graphRows(checkins: readonly TimelineCheckin[]): GraphRow[] {
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
