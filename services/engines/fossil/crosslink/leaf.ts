/** The table `leaf`: check-ins without a child on the same branch. */
import { TAG } from "../content/mod.ts";
import type { LinkContext } from "./context.ts";

const BRANCH_OF_PARENT = branchOf("plink.pid");
const BRANCH_OF_CHILD = branchOf("plink.cid");

function branchOf(column: string): string {
  return `coalesce((SELECT value FROM tagxref WHERE tagid=${TAG.branch} AND rid=${column}),'trunk')`;
}

/** Schedules a check-in and its parents for another look at the end of the transaction. */
export function checkLeafLater(ctx: LinkContext, rid: number): void {
  ctx.pending.leaves.add(rid);
  const parents = ctx.db.rows<{ pid: number }>("SELECT pid FROM plink WHERE cid=? AND pid>0", rid);
  for (const { pid } of parents) ctx.pending.leaves.add(pid);
}

/** Updates the table for the scheduled check-ins. */
export function checkLeaves(ctx: LinkContext): void {
  for (const rid of ctx.pending.leaves) {
    const hasChild = ctx.db.exists(
      `SELECT 1 FROM plink WHERE pid=? AND ${BRANCH_OF_PARENT}=${BRANCH_OF_CHILD}`,
      rid,
    );
    const statement = hasChild
      ? "DELETE FROM leaf WHERE rid=?"
      : "INSERT OR IGNORE INTO leaf VALUES(?)";
    ctx.db.run(statement, rid);
  }
  ctx.pending.leaves.clear();
}
