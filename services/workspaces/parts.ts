import type { ProjectRepositories } from "../projects/mod.ts";
import type { Permits } from "./permits.ts";
import type { WorkspaceSettling } from "./settling.ts";
import type { WorkspaceStore } from "./store.ts";

/** The services that the changes of workspaces share. */
export interface WorkspaceParts {
  readonly repositories: ProjectRepositories;
  readonly store: WorkspaceStore;
  readonly settling: WorkspaceSettling;
  readonly permits: Permits;
}
