/** The table `mlink`: the files that a check-in changed, for each parent. */
import type { FileCard, Manifest } from "../artifact/mod.ts";
import { toJulianDay } from "../codec/mod.ts";
import type { LinkContext } from "./context.ts";
import { ManifestFiles, modeNumber } from "./files.ts";
import { noteCloseChild } from "./nudge.ts";

/** A check-in with all data to compare it with another. */
interface Side {
  readonly rid: number;
  readonly manifest: Manifest;
  readonly baselineRid: number;
  readonly files: ManifestFiles;
}

/** One changed file. */
interface Change {
  readonly name: string;
  readonly oldName: string | null;
  /** Hash in the parent; null if the file is new. */
  readonly from: string | null;
  /** The card in the child; null if the file is gone. */
  readonly to: FileCard | null;
}

/**
 * The full manifest that a delta manifest amends: null if `manifest` is a full one, undefined if
 * the baseline is missing or not a check-in.
 */
export function baselineOf(ctx: LinkContext, manifest: Manifest): Manifest | null | undefined {
  if (manifest.baseline === null) return null;
  return ctx.manifest(ctx.store.ridOrPhantom(manifest.baseline)) ?? undefined;
}

function sideOf(ctx: LinkContext, rid: number): Side | null {
  const manifest = ctx.manifest(rid);
  if (manifest === null) return null;
  const baseline = baselineOf(ctx, manifest);
  if (baseline === undefined) return null;
  const baselineRid = manifest.baseline === null ? 0 : ctx.store.ridOf(manifest.baseline);
  return { rid, manifest, baselineRid, files: new ManifestFiles(manifest.files, baseline?.files) };
}

/**
 * Writes the changes of a check-in against its primary parent, its merge parents and the check-ins
 * cherry-picked into it. Replaces existing rows.
 *
 * @param primary row of the primary parent, 0 for a check-in without parents.
 * @param parentCount number of parents it has now, which a "parent" tag may have changed.
 */
export function linkFiles(
  ctx: LinkContext,
  rid: number,
  primary: number,
  parentCount: number,
): void {
  if (ctx.db.run("DELETE FROM mlink WHERE mid=?", rid) > 0) ctx.relinked++;
  const child = sideOf(ctx, rid);
  if (child === null) return;
  if (parentCount === 0) {
    for (const card of child.files.own) {
      addChange(ctx, 0, rid, { name: card.name, oldName: null, from: null, to: card }, false);
    }
    ctx.pending.complete.add(rid);
    return;
  }
  const parent = sideOf(ctx, primary);
  if (parent === null) return;
  addChanges(ctx, parent, child, false);
  const picked = child.manifest.cherrypicks.filter((pick) => !pick.backout);
  const others = [...child.manifest.parents.slice(1), ...picked.map((pick) => pick.hash)];
  let complete = true;
  for (const hash of others) {
    const other = sideOf(ctx, ctx.store.ridOf(hash));
    if (other === null) complete = false;
    else if (!hasChanges(ctx, rid, other.rid)) addChanges(ctx, other, child, true);
  }
  markMergedFiles(ctx, rid, parentCount + picked.length);
  if (complete) ctx.pending.complete.add(rid);
}

function hasChanges(ctx: LinkContext, child: number, parent: number): boolean {
  return ctx.db.exists("SELECT 1 FROM mlink WHERE mid=? AND pmid=?", child, parent);
}

/**
 * A file that is new against some parents only came with a merge: its `pid` is -1. A plus sign keeps
 * SQLite from other indexes than that of `mid`, which has the fewest rows.
 */
function markMergedFiles(ctx: LinkContext, rid: number, linkCount: number): void {
  if (linkCount < 2) return;
  ctx.db.run(
    `UPDATE mlink SET pid=-1 WHERE mid=? AND +pid=0 AND +fnid IN
      (SELECT fnid FROM mlink WHERE mid=? GROUP BY fnid HAVING count(*)<?)`,
    rid,
    rid,
    linkCount,
  );
}

function addChanges(ctx: LinkContext, parent: Side, child: Side, isMerge: boolean): void {
  deltifyManifests(ctx, parent, child);
  const [before, after] = [parent.manifest.date, child.manifest.date].map(toJulianDay);
  noteCloseChild(ctx, { rid: parent.rid, day: before! }, { rid: child.rid, day: after! });
  for (const change of changesBetween(parent, child)) {
    addChange(ctx, parent.rid, child.rid, change, isMerge);
  }
}

/**
 * The older manifest becomes a delta of the newer, but a full manifest never a delta of a delta
 * manifest.
 */
function deltifyManifests(ctx: LinkContext, parent: Side, child: Side): void {
  const [parentIsDelta, childIsDelta] = [parent, child].map((side) => side.baselineRid !== 0);
  if (parentIsDelta === childIsDelta) ctx.store.deltify(parent.rid, child.rid);
  else if (parentIsDelta) ctx.store.deltify(parent.baselineRid, child.rid);
}

function* changesBetween(parent: Side, child: Side): Generator<Change> {
  for (const card of child.files.own) {
    const change = changeOf(card, parent.files);
    if (change !== null) yield change;
  }
  const childIsDelta = child.manifest.baseline !== null;
  if (childIsDelta && parent.manifest.baseline !== null) {
    yield* revertedChanges(parent, child);
  } else if (!childIsDelta) {
    for (const { name, hash } of parent.files.all()) {
      if (child.files.find(name) === null) yield { name, oldName: null, from: hash, to: null };
    }
  }
}

/** The change that a card of the child makes to the parent; null if none. */
function changeOf(card: FileCard, parent: ManifestFiles): Change | null {
  const { name, oldName } = card;
  const to = card.hash === null ? null : card;
  const before = parent.find(oldName ?? name);
  if (oldName !== null) {
    return { name, oldName: before && oldName, from: before?.hash ?? null, to };
  }
  if (before === null) return to && { name, oldName, from: null, to };
  if (before.hash === card.hash && before.mode === card.mode) return null;
  return { name, oldName, from: before.hash, to };
}

/** Both are delta manifests: files that are again as in the baseline have no card in the child. */
function* revertedChanges(parent: Side, child: Side): Generator<Change> {
  for (const { name, hash } of parent.files.own) {
    if (hash !== null && child.files.findOwn(name) !== null) continue;
    const to = child.files.find(name);
    if (to !== null) yield { name, oldName: null, from: hash, to };
  }
}

function addChange(
  ctx: LinkContext,
  parent: number,
  child: number,
  change: Change,
  isMerge: boolean,
): void {
  const { db, store } = ctx;
  const nameId = ctx.fileNameId(change.name);
  const oldNameId = change.oldName === null ? 0 : ctx.fileNameId(change.oldName);
  const from = change.from === null ? 0 : store.ridOrPhantom(change.from);
  const to = change.to?.hash ? store.ridOrPhantom(change.to.hash) : 0;
  if (to !== 0 && !store.isPrivate(child)) store.makePublic(to);
  const known = "SELECT 1 FROM mlink WHERE mid=? AND +fnid=? AND NOT isaux";
  if (!isMerge || db.exists(known, child, nameId)) {
    db.run(
      "INSERT INTO mlink(mid,fid,pmid,pid,fnid,pfnid,mperm,isaux) VALUES(?,?,?,?,?,?,?,?)",
      child,
      to,
      parent,
      from,
      nameId,
      oldNameId,
      change.to === null ? 0 : modeNumber(change.to.mode),
      isMerge ? 1 : 0,
    );
  }
  if (from !== 0 && to !== 0) store.deltify(from, to);
}
