/** Inputs and results of merges: plain data. */
import type { ConflictHunk, HunkTexts } from "./text.ts";
import type { FileMode } from "../artifact/mod.ts";
import type { Author, FileChange } from "../write/mod.ts";

/** One version of a file that takes part in a merge. */
export interface MergeVersion {
  readonly path: string;
  readonly hash: string;
  readonly mode: FileMode;
}

/**
 * Why a path could not be merged:
 * - `content`: both sides changed the same lines;
 * - `binary`: both sides changed a file that is binary or too large;
 * - `link`: both sides changed the target of a symbolic link, or one made it a file;
 * - `mode`: both sides changed the mode, differently;
 * - `deleted-by-us`, `deleted-by-them`: one side deleted what the other one changed or moved;
 * - `both-added`: both sides added the path, with different content or mode;
 * - `both-renamed`: both sides moved the file, to different paths;
 * - `same-path`: two different files would get the path, or paths that differ only in case;
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
  /** The lines in conflict, of texts; absent for others. */
  readonly hunks?: readonly ConflictHunk[];
}

/** The change of a merge to a file of the target check-in. */
export interface MergedFile {
  readonly path: string;
  readonly kind: "added" | "deleted" | "modified" | "renamed";
  /** The path before, if the file is moved. */
  readonly from: string | null;
  /** The new content was merged from both sides; otherwise it is unchanged from one side. */
  readonly isCombined: boolean;
}

/** Result of planning a merge. */
export interface MergePreview {
  /** Hash of the target check-in: the parent of the result. */
  readonly ours: string;
  /** Hash of the check-in that is merged, picked or backed out. */
  readonly theirs: string;
  /** Hashes of the common ancestors; several for a criss-cross merge. */
  readonly ancestors: readonly string[];
  /** Nothing is left to merge: the check-in is already an ancestor. */
  readonly isMerged: boolean;
  readonly isClean: boolean;
  /** Sorted by path; complete only if the merge is clean. */
  readonly files: readonly MergedFile[];
  readonly conflicts: readonly Conflict[];
}

/** Two check-ins to merge, by full hashes. */
export interface MergeSides {
  readonly ours: string;
  readonly theirs: string;
}

/** A merge to commit. */
export interface NewMerge extends Author, MergeSides {
  /** By default it names the merged branch or check-in. */
  readonly comment?: string;
  /** Closes the branch that is merged. */
  readonly integrate?: boolean;
  /** Name of a branch that starts with the merge check-in. */
  readonly branch?: string;
  /** Hashes of further check-ins whose branch ends with the merge. */
  readonly closes?: readonly string[];
  readonly allowFork?: boolean;
  /** Dates the result just after its parents if a parent's date lies in the future. */
  readonly followParents?: boolean;
  /** Ids of tickets that the merge closes as done, in the same transaction. */
  readonly resolves?: readonly string[];
  /** Refuses to merge what is not, or no longer, the open tip of its branch. */
  readonly onlyTip?: boolean;
  /**
   * Changes to the merged files. If they have something to say about the path of every conflict,
   * the merge is committed with them; otherwise the remaining conflicts are the result.
   */
  readonly resolutions?: readonly FileChange[];
  /** Texts in place of conflicts in texts. */
  readonly decided?: HunkTexts;
}

/** Changes of one check-in, or of a range, to apply to another. */
export interface PickSides {
  /** Hash of the target check-in. */
  readonly onto: string;
  /** Hash of the check-in with the changes. */
  readonly checkin: string;
  /** Reverts the changes instead. */
  readonly backout?: boolean;
  /** Hash of the check-in before the range, exclusive; by default the primary parent. */
  readonly base?: string;
}

/** A cherry-pick or a back-out to commit. */
export interface NewPick extends Author, PickSides {
  /** By default that of the check-in, or one that names the backed-out check-in. */
  readonly comment?: string;
  readonly allowFork?: boolean;
}

/** Result of a commit: the check-in, or null because of conflicts. */
export interface MergeResult {
  readonly checkin: string | null;
  readonly preview: MergePreview;
}
