/**
 * The table `plink`: parents and children of check-ins, and of versions of documents. From it follows
 * the table `leaf`: check-ins without a child on the same branch.
 */
import type { Manifest } from "../artifact/mod.ts";
import { isArtifactHash, toJulianDay } from "../codec/mod.ts";
import { TAG } from "../content/mod.ts";
import type { LinkContext } from "./context.ts";
import { linkFiles } from "./mlink.ts";

/** Writes the parents of an artifact. Returns the row of the primary one, 0 if it has none. */
export function linkParents(
  ctx: LinkContext,
  rid: number,
  parents: readonly string[],
  date: number,
  baseline: string | null = null,
): number {
  const baselineRid = baseline === null ? null : ctx.store.ridOrPhantom(baseline);
  let primary = 0;
  for (const [index, hash] of parents.entries()) {
    const parent = ctx.store.ridOrPhantom(hash);
    if (index === 0) primary = parent;
    ctx.db.run(
      "INSERT OR IGNORE INTO plink(pid,cid,isprim,mtime,baseid) VALUES(?,?,?,?,?)",
      parent,
      rid,
      index === 0 ? 1 : 0,
      toJulianDay(date),
      baselineRid,
    );
  }
  return primary;
}

/**
 * Writes parents and changed files of a check-in, and the changed files of its children, which may
 * have arrived before it. Returns the row of the primary parent.
 */
export function linkCheckin(
  ctx: LinkContext,
  rid: number,
  manifest: Manifest,
  parents: readonly string[] = manifest.parents,
): number {
  const primary = linkParents(ctx, rid, parents, manifest.date, manifest.baseline);
  linkFiles(ctx, rid, primary, parents.length);
  ctx.pending.checkins.add(rid);
  const children = ctx.db.rows<{ cid: number }>("SELECT cid FROM plink WHERE pid=?", rid);
  for (const { cid } of children) relink(ctx, cid);
  return primary;
}

/** Compares a check-in again with its parents, one of which has just arrived. */
export function relink(ctx: LinkContext, rid: number): void {
  ctx.relinked++;
  if (ctx.pending.complete.has(rid)) return;
  const parents = ctx.db.rows<{ pid: number; isprim: number }>(
    "SELECT pid, isprim FROM plink WHERE cid=? ORDER BY isprim DESC",
    rid,
  );
  const primary = parents.find((parent) => parent.isprim === 1)?.pid ?? 0;
  linkFiles(ctx, rid, primary, parents.length);
}

/** Sets the parents of a check-in to those of its "parent" tag: hashes separated by spaces. */
export function reparent(ctx: LinkContext, rid: number, value: string): void {
  const parents = value.split(" ").filter((hash) => hash !== "");
  if (parents.length === 0 || !parents.every(isArtifactHash)) return;
  const manifest = ctx.manifest(rid);
  if (manifest === null) return;
  if (isOnBranch(ctx, rid)) checkLeafLater(ctx, rid);
  ctx.db.run("DELETE FROM plink WHERE cid=?", rid);
  ctx.relinked++;
  ctx.pending.complete.delete(rid);
  linkCheckin(ctx, rid, manifest, parents.map((hash) => hash.toLowerCase()));
  if (isOnBranch(ctx, rid)) checkLeafLater(ctx, rid);
}

function isOnBranch(ctx: LinkContext, rid: number): boolean {
  return ctx.db.exists("SELECT 1 FROM tagxref WHERE tagid=? AND rid=?", TAG.branch, rid);
}

/**
 * Applies "parent" tags again if one of their check-ins was linked in this transaction, because
 * linking writes the parents of the manifest.
 */
export function reparentLinked(ctx: LinkContext): void {
  const tags = ctx.db.rows<{ rid: number; value: string | null }>(
    "SELECT rid, value FROM tagxref WHERE tagid=? AND tagtype=1",
    TAG.parent,
  );
  for (const { rid, value } of tags) {
    if (ctx.pending.checkins.has(rid)) reparent(ctx, rid, value ?? "");
  }
}

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
