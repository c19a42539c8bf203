/** Which files differ between two check-ins. */
import type { FileCard } from "../artifact/mod.ts";
import { compareUtf8 } from "../codec/mod.ts";
import { findFile } from "./manifests.ts";
import type { ChangeType, FileDifference } from "./shapes.ts";
import { TextMap } from "../text/mod.ts";

/** New names of files by their old names. */
export type Renames = ReadonlyMap<string, string>;

/**
 * Compares two trees, each in byte order of the names.
 *
 * @param renames names in `after` by names in `before`; unknown names are ignored.
 * @returns differences in the order of the names.
 */
export function compareTrees(
  before: readonly FileCard[],
  after: readonly FileCard[],
  renames: Renames = new TextMap(),
): FileDifference[] {
  const moved = movedFiles(before, after, renames);
  const [gone, come] = [new Set(moved.map(([from]) => from)), new Set(moved.map(([, to]) => to))];
  if (moved.length === 0) {
    return pairByName(before, after).map(([from, to]) => differenceOf(from, to));
  }
  const pairs = pairByName(
    before.filter((card) => !gone.has(card)),
    after.filter((card) => !come.has(card)),
  );
  return [...moved, ...pairs].map(([from, to]) => differenceOf(from, to))
    .sort((left, right) => compareUtf8(left.name, right.name));
}

/** A file before and after. */
type Pair = readonly [from: FileCard | null, to: FileCard | null];

/**
 * Renamed files. A name that another file had before does not count as new: that file was changed.
 */
function movedFiles(
  before: readonly FileCard[],
  after: readonly FileCard[],
  renames: Renames,
): (readonly [FileCard, FileCard])[] {
  return [...renames].flatMap(([oldName, name]) => {
    const [from, to] = [findFile(before, oldName), findFile(after, name)];
    const isTaken = findFile(before, name) !== null && !renames.has(name);
    return from === null || to === null || isTaken ? [] : [[from, to] as const];
  });
}

/** Files that differ, by their names. */
function pairByName(before: readonly FileCard[], after: readonly FileCard[]): Pair[] {
  const pairs: Pair[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [from, to] = [before[i] ?? null, after[j] ?? null];
    if (from === to) {
      // The parser gives the same card for the same line.
      i++;
      j++;
      continue;
    }
    const order = from === null ? 1 : to === null ? -1 : compareUtf8(from.name, to.name);
    if (order <= 0) i++;
    if (order >= 0) j++;
    if (order < 0) pairs.push([from, null]);
    else if (order > 0) pairs.push([null, to]);
    else if (from !== null && to !== null && !isSame(from, to)) pairs.push([from, to]);
  }
  return pairs;
}

function isSame(from: FileCard, to: FileCard): boolean {
  return from.hash === to.hash && from.mode === to.mode;
}

function changeType(from: FileCard | null, to: FileCard | null): ChangeType {
  if (from === null) return "added";
  if (to === null) return "deleted";
  return from.name === to.name ? "modified" : "renamed";
}

function differenceOf(from: FileCard | null, to: FileCard | null): FileDifference {
  const [name, mode] = [(to ?? from)?.name ?? "", (to ?? from)?.mode];
  const change_type = changeType(from, to);
  return {
    name,
    change_type,
    uuid: to?.hash ?? null,
    prev_uuid: from?.hash ?? null,
    prev_name: change_type === "renamed" ? from?.name ?? null : null,
    type: mode === "link" ? "link" : "file",
    executable: mode === "executable",
    mode_changed: from !== null && to !== null && from.mode !== to.mode,
  };
}
