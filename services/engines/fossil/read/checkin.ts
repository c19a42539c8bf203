import { Buffer } from "node:buffer";
import type { FileCard } from "../artifact/mod.ts";
import { compareUtf8 } from "../codec/mod.ts";
import { hiddenDeletions } from "../crosslink/mod.ts";
import { FossilError } from "../error.ts";
import { compareTrees } from "./changes.ts";
import { readTimelineCheckin } from "./checkins.ts";
import { findFileOf, manifestOf, treeOf } from "./manifests.ts";
import type { Reader } from "./reader.ts";
import { resolveCheckin } from "./resolve.ts";
import type { CheckinDetail, FileDifference } from "./shapes.ts";
import { TextMap, TextSet } from "../text/mod.ts";

/**
 * A check-in with its changes against its primary parent.
 *
 * @param checkin any name; absent for the tip of the main branch.
 * @throws {FossilError} `missing` or `ambiguous` if the name fits none or several, `missing` if the
 * check-in itself is missing.
 */
export function readCheckin(reader: Reader, checkin?: string): CheckinDetail {
  return reader.read(() => {
    const { rid, uuid } = resolveCheckin(reader, checkin);
    const summary = readTimelineCheckin(reader, rid);
    if (summary === null) throw new FossilError("missing", `Check-in "${uuid}" is not here`);
    const children = reader.repository.db.rows<{ uuid: string }>(
      `SELECT uuid FROM plink JOIN blob ON rid=cid WHERE pid=? ORDER BY isprim DESC, mtime, cid`,
      rid,
    );
    return {
      ...summary,
      files_changed: changesOf(reader, rid),
      children: children.map((child) => child.uuid),
      cherrypicks: cherrypicksOf(reader, rid),
    };
  });
}

/** The cherrypicks of a check-in. Most have none, and their manifests need no parsing. */
function cherrypicksOf(reader: Reader, rid: number): CheckinDetail["cherrypicks"] {
  const manifest = reader.repository.store.get(rid);
  if (manifest !== null && Buffer.from(manifest.buffer).indexOf("\nQ ", manifest.byteOffset) < 0) {
    return [];
  }
  return manifestOf(reader, rid).cherrypicks
    .map(({ hash, backout }) => ({ uuid: hash, backout }));
}

/** The changes of a check-in against its primary parent; all files if it has none. */
function changesOf(reader: Reader, rid: number): FileDifference[] {
  const parent = primaryParentOf(reader, rid);
  if (parent === 0) return compareTrees([], treeOf(reader, rid));
  const changed = changedFiles(reader, rid, parent);
  if (changed !== null) return compareTrees(changed.before, changed.after);
  const after = treeOf(reader, rid);
  const renames = after.flatMap(({ name, oldName }) => oldName === null ? [] : [[oldName, name]]);
  return compareTrees(treeOf(reader, parent), after, new TextMap(renames as [string, string][]));
}

/** Most changed files that are looked up one by one. */
const MAX_CHANGED = 100;

/**
 * The changed files before and after a check-in, found without parsing its manifest; null if there
 * are many, or renames among them.
 */
function changedFiles(
  reader: Reader,
  rid: number,
  parent: number,
): { readonly before: readonly FileCard[]; readonly after: readonly FileCard[] } | null {
  const rows = reader.repository.db.rows<{ name: string; fid: number; pid: number; old: number }>(
    `SELECT name, fid, pid, pfnid AS old FROM mlink JOIN filename USING(fnid)
      WHERE mid=? AND pmid=? LIMIT ${MAX_CHANGED + 1}`,
    rid,
    parent,
  );
  const hidden = hiddenDeletions(reader.repository, [rid]);
  if (hidden === null) return null;
  if (rows.length > MAX_CHANGED || rows.some(({ old }) => old > 0)) return null;
  const cardsIn = (checkin: number, names: Iterable<string>) =>
    [...new TextSet([...names, ...hidden])].sort(compareUtf8)
      .flatMap((name) => findFileOf(reader, checkin, name) ?? []);
  return {
    before: cardsIn(parent, rows.flatMap(({ name, pid }) => pid > 0 ? [name] : [])),
    after: cardsIn(rid, rows.flatMap(({ name, fid }) => fid > 0 ? [name] : [])),
  };
}

/** Row of the primary parent, 0 if it does not exist or is missing. */
export function primaryParentOf(reader: Reader, rid: number): number {
  return reader.repository.db.value<number>(
    "SELECT pid FROM plink JOIN blob ON rid=pid WHERE cid=? AND isprim AND size>=0",
    rid,
  ) ?? 0;
}
