import type { ProjectRepositories } from "../projects/mod.ts";
import type { Permits } from "./permits.ts";
import type { WorkspaceSettling } from "./settling.ts";
import type { WorkspaceStore } from "./store.ts";

/** Where workspaces are merged if nobody says otherwise. */
export const DEFAULT_TARGET = "trunk";

/** What every change of a workspace works with. */
export interface WorkspaceParts {
  readonly repositories: ProjectRepositories;
  readonly store: WorkspaceStore;
  readonly settling: WorkspaceSettling;
  readonly permits: Permits;
}
