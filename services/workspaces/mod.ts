/** Workspaces: branches on which agents work, without a checkout. */
export { requireTarget } from "./lines.ts";
export {
  type Overlap,
  type OverlapConflict,
  Overlaps,
  OverlapWatch,
  type OverlapWatchOptions,
} from "./overlaps.ts";
export {
  branchOf,
  type GatedMerge,
  LANDING_PREFIX,
  type MergeGate,
  type MergeRequest,
  type NewCommit,
  type NewWorkspace,
  type OpenedWorkspace,
  PASSING_PREFIXES,
  type SettledMerge,
  type UpdateRequest,
  type WorkFence,
  type WorkRequest,
  type Workspace,
  type WorkspaceChange,
  type WorkspaceLine,
  type WorkspaceListener,
  type WorkspaceStatus,
  type WrittenCommit,
  type WrittenMerge,
} from "./records.ts";
export { Workspaces, type WorkspacesOptions } from "./workspaces.ts";
