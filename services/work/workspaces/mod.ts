/** Workspaces: branches on which agents work, without a checkout. */
export { lineOf, requireTarget } from "./lines.ts";
export { OverlapWatch, pathsOf } from "./overlaps.ts";
export {
  branchOf,
  type GatedMerge,
  isPassing,
  LANDING_PREFIX,
  PASSING_PREFIXES,
  type WorkRequest,
  type Workspace,
  type WorkspaceChange,
} from "./records.ts";
export { Workspaces } from "./workspaces.ts";
