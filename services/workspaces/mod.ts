/** Workspaces: branches on which agents work, without a checkout. */
export { fileChangesOf, MAX_CHANGES, MAX_COMMIT_BYTES, type RequestedChange } from "./changes.ts";
export type { NewCommit, UpdateRequest, WrittenCommit } from "./committing.ts";
export type {
  GatedMerge,
  MergeGate,
  WorkFence,
  WorkRequest,
  WorkspaceChange,
  WorkspaceListener,
} from "./interfaces.ts";
export type { MergeRequest, SettledMerge, WrittenMerge } from "./merging.ts";
export { OverlapWatch, type OverlapWatchOptions } from "./overlap_watch.ts";
export { type Overlap, type OverlapConflict, Overlaps } from "./overlaps.ts";
export {
  branchOf,
  LANDING_PREFIX,
  PASSING_PREFIXES,
  type Workspace,
  type WorkspaceLine,
  type WorkspaceStatus,
} from "./records.ts";
export { requireTarget } from "./tips.ts";
export {
  type NewWorkspace,
  type OpenedWorkspace,
  Workspaces,
  type WorkspacesOptions,
} from "./workspaces.ts";
