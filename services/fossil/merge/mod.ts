/** Merging: of two lines, and of the changes of single check-ins. */
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import type {
  MergePreview,
  MergeResult,
  MergeSides,
  NewMerge,
  NewPick,
  PickSides,
} from "./types.ts";

export type * from "./types.ts";

/** Whether two check-ins can be merged, and what would change. Writes nothing. */
export function previewMerge(_repository: Repository, _sides: MergeSides): MergePreview {
  throw new FossilError("unsupported", "Under construction");
}

/** Merges: either the check-in exists afterwards, or nothing has changed. */
export function writeMerge(_repository: Repository, _merge: NewMerge): MergeResult {
  throw new FossilError("unsupported", "Under construction");
}

/** As `previewMerge`, for a cherry-pick or a back-out. */
export function previewPick(_repository: Repository, _sides: PickSides): MergePreview {
  throw new FossilError("unsupported", "Under construction");
}

/** As `writeMerge`, for a cherry-pick or a back-out. */
export function writePick(_repository: Repository, _pick: NewPick): MergeResult {
  throw new FossilError("unsupported", "Under construction");
}
