/**
 * The order in which the rebuild of the `fossil` program visits artifacts. It decides a few results
 * that the artifacts alone leave open.
 */
import type { Database } from "./database.ts";
import { DeltaTree } from "./delta_tree.ts";

/** Position of every artifact in that order, by row; -1 for rows that do not exist. */
export function rebuildPositions(db: Database): Int32Array {
  const last = db.value<number>("SELECT max(rid) FROM blob") ?? 0;
  const positions = new Int32Array(last + 1).fill(-1);
  const tree = new DeltaTree(db);
  let next = 0;
  const whole = `SELECT rid FROM blob
    WHERE size>=0 AND NOT EXISTS(SELECT 1 FROM delta WHERE delta.rid=blob.rid) ORDER BY rid`;
  for (const { rid: start } of db.rows<{ rid: number }>(whole)) {
    const stack = [start];
    for (let rid = stack.pop(); rid !== undefined; rid = stack.pop()) {
      if (positions[rid] !== -1) continue;
      positions[rid] = next++;
      stack.push(...inBagOrder(tree.dependents(rid)).reverse());
    }
  }
  return positions;
}

const MULTIPLIER = 101;
const SPARE_SLOTS = 20;

/**
 * Rows in the order of the program's hash table of rows (`bag.c`): open addressing; the table grows
 * when it is half full.
 */
function inBagOrder(rids: Iterable<number>): number[] {
  let slots: number[] = [];
  let used = 0;
  for (const rid of rids) {
    if (used + 1 >= Math.floor(slots.length / 2)) {
      const rows = slots.filter((row) => row !== 0);
      slots = new Array<number>(2 * slots.length + SPARE_SLOTS).fill(0);
      for (const row of rows) put(slots, row);
    }
    put(slots, rid);
    used++;
  }
  return slots.filter((row) => row !== 0);
}

function put(slots: number[], rid: number): void {
  let slot = (Math.imul(rid, MULTIPLIER) >>> 0) % slots.length;
  while (slots[slot] !== 0) slot = (slot + 1) % slots.length;
  slots[slot] = rid;
}
