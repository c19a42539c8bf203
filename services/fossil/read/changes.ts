/** Which files differ between two check-ins. */
import type { FileCard } from "../artifact/mod.ts";
import { compareUtf8 } from "../codec/mod.ts";
import type { FileDifference } from "./shapes.ts";

/** New names of files by their old names. */
export type Renames = ReadonlyMap<string, string>;

/**
 * Compares two trees, each in byte order of the names.
 *
 * @param renames names in `after` by those in `before`; passed over where a name is not there.
 * @returns differences in the order of the names.
 */
export function compareTrees(
  before: readonly FileCard[],
  after: readonly FileCard[],
  renames: Renames = new Map(),
): FileDifference[] {
  const { added, deleted, differences } = pairByName(before, after);
  for (const [oldName, name] of renames) {
    const [from, to] = [deleted.get(oldName), added.get(name)];
    if (from === undefined || to === undefined) continue;
    deleted.delete(oldName);
    added.delete(name);
    differences.push(difference("renamed", from, to));
  }
  for (const card of added.values()) differences.push(difference("added", null, card));
  for (const card of deleted.values()) differences.push(difference("deleted", card, null));
  return differences.sort((left, right) => compareUtf8(left.name, right.name));
}

interface Pairs {
  readonly added: Map<string, FileCard>;
  readonly deleted: Map<string, FileCard>;
  /** Files that are in both and differ. */
  readonly differences: FileDifference[];
}

function pairByName(before: readonly FileCard[], after: readonly FileCard[]): Pairs {
  const [added, deleted] = [new Map<string, FileCard>(), new Map<string, FileCard>()];
  const differences: FileDifference[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [from, to] = [before[i], after[j]];
    const order = from === undefined ? 1 : to === undefined ? -1 : compareUtf8(from.name, to.name);
    if (order <= 0) i++;
    if (order >= 0) j++;
    if (from !== undefined && order < 0) deleted.set(from.name, from);
    else if (to !== undefined && order > 0) added.set(to.name, to);
    else if (from !== undefined && to !== undefined && !isSame(from, to)) {
      differences.push(difference("modified", from, to));
    }
  }
  return { added, deleted, differences };
}

function isSame(from: FileCard, to: FileCard): boolean {
  return from.hash === to.hash && from.mode === to.mode;
}

function difference(
  change_type: FileDifference["change_type"],
  from: FileCard | null,
  to: FileCard | null,
): FileDifference {
  const mode = (to ?? from)?.mode;
  return {
    name: (to ?? from)?.name ?? "",
    change_type,
    uuid: to?.hash ?? null,
    prev_uuid: from?.hash ?? null,
    prev_name: change_type === "renamed" ? from?.name ?? null : null,
    type: mode === "link" ? "link" : "file",
    executable: mode === "executable",
    mode_changed: from !== null && to !== null && from.mode !== to.mode,
  };
}
