/** What goes into a merge and what comes out of it: plain data. */
import type { FileMode } from "../artifact/mod.ts";
import type { Author } from "../write/mod.ts";

/** One version of a file that takes part in a merge. */
export interface MergeVersion {
  readonly path: string;
  readonly hash: string;
  readonly mode: FileMode;
}

/**
 * Why a path could not be merged:
 * - `content`: both sides changed the same lines;
 * - `binary`: both sides changed a file that is no text, or too large a one;
 * - `link`: both sides changed where a symbolic link leads, or one made it a file;
 * - `mode`: both sides changed the mode, each in its way;
 * - `deleted-by-us`, `deleted-by-them`: one side deleted what the other one changed or moved;
 * - `both-added`: both sides added the path, with different content or mode;
 * - `both-renamed`: both sides moved the file, to different paths;
 * - `same-path`: two different files would get the path;
 * - `file-folder`: the path would be a file and a folder.
 */
export type ConflictKind =
  | "content"
  | "binary"
  | "link"
  | "mode"
  | "deleted-by-us"
  | "deleted-by-them"
  | "both-added"
  | "both-renamed"
  | "same-path"
  | "file-folder";

/** A path that needs a decision. Versions are null if a side does not have the file. */
export interface Conflict {
  readonly path: string;
  readonly kind: ConflictKind;
  /** Null as well if several common ancestors disagree about the file. */
  readonly ancestor: MergeVersion | null;
  readonly ours: MergeVersion | null;
  readonly theirs: MergeVersion | null;
}

/** What a merge does to a file of the check-in that is merged into. */
export interface MergedFile {
  readonly path: string;
  readonly kind: "added" | "deleted" | "modified" | "renamed";
  /** The path before, if the file is moved. */
  readonly from: string | null;
  /** Content after the merge was put together from both sides; else it is one side's as it was. */
  readonly isCombined: boolean;
}

/** What a merge would do. */
export interface MergePreview {
  /** Hash of the check-in that is merged into: the parent of the result. */
  readonly ours: string;
  /** Hash of the check-in that is merged, picked or backed out. */
  readonly theirs: string;
  /** Hashes of the common ancestors that the merge starts from; several where lines cross. */
  readonly ancestors: readonly string[];
  /** Nothing is left to be merged: the check-in is an ancestor already. */
  readonly isMerged: boolean;
  readonly isClean: boolean;
  /** In the order of paths; complete only where the merge is clean. */
  readonly files: readonly MergedFile[];
  readonly conflicts: readonly Conflict[];
}

/** Two check-ins to be merged, by full hashes. */
export interface MergeSides {
  readonly ours: string;
  readonly theirs: string;
}

/** A merge to be committed. */
export interface NewMerge extends Author, MergeSides {
  /** By default one that names the branch or check-in that is merged. */
  readonly comment?: string;
  /** Closes the branch that is merged. */
  readonly integrate?: boolean;
  readonly allowFork?: boolean;
}

/** Changes of one check-in, or of a range of them, to be applied to another. */
export interface PickSides {
  /** Hash of the check-in to which the changes are applied. */
  readonly onto: string;
  /** Hash of the check-in whose changes are taken. */
  readonly checkin: string;
  /** Takes the changes away instead of making them. */
  readonly backout?: boolean;
  /** Hash of the check-in before the range, exclusive; by default the primary parent. */
  readonly base?: string;
}

/** A cherry-pick or a back-out to be committed. */
export interface NewPick extends Author, PickSides {
  /** By default that of the check-in, or one that says what is backed out. */
  readonly comment?: string;
  readonly allowFork?: boolean;
}

/** Outcome of a commit: the check-in, or null if conflicts stand against it. */
export interface MergeResult {
  readonly checkin: string | null;
  readonly preview: MergePreview;
}
