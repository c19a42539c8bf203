/** Merging: of two lines, and of the changes of single check-ins. */
import type { Repository } from "../repository.ts";
import { planMerge, planPick } from "./plan.ts";
import { isText, type MarkerLabels, mergeText } from "./text.ts";
import { Contents } from "./tree.ts";
import type { Conflict, MergePreview, MergeSides, PickSides } from "./types.ts";

export type * from "./types.ts";
export { writeMerge, writePick } from "./commit.ts";
export { type MarkerLabels, type MergedText, mergeText } from "./text.ts";

/**
 * Whether two check-ins can be merged, and what would change. Writes nothing.
 *
 * @throws {FossilError} `missing` if a check-in is unknown; `invalid` if the two have no common
 * ancestor.
 */
export function previewMerge(repository: Repository, sides: MergeSides): MergePreview {
  return repository.read(() => planMerge(repository, sides).preview);
}

/**
 * Like `previewMerge`, for a cherry-pick or a back-out.
 *
 * @throws {FossilError} `missing` if a check-in is unknown; `invalid` if it has no parent.
 */
export function previewPick(repository: Repository, sides: PickSides): MergePreview {
  return repository.read(() => planPick(repository, sides).preview);
}

/**
 * The text of a conflict with all versions between markers, to resolve it by hand. Null if a side
 * does not have the file, or if it is not text.
 */
export function markConflict(
  repository: Repository,
  conflict: Conflict,
  labels: MarkerLabels = { ancestor: "ancestor", ours: "ours", theirs: "theirs" },
): Uint8Array | null {
  const { ancestor, ours, theirs } = conflict;
  if (ours === null || theirs === null) return null;
  return repository.read(() => {
    const contents = new Contents(repository);
    const base = ancestor === null ? new Uint8Array(0) : contents.read(ancestor.hash);
    const [mine, other] = [contents.read(ours.hash), contents.read(theirs.hash)];
    if (![base, mine, other].every(isText)) return null;
    return mergeText(base, mine, other, { labels }).content;
  });
}
