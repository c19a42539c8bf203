import type { ProjectRepositories } from "../projects/mod.ts";
import type { WorkspaceAuthorization } from "./authorization.ts";
import type { WorkspaceReconciliation } from "./reconciliation.ts";
import type { WorkspaceStore } from "./store.ts";

/** The services that the changes of workspaces share. */
export interface WorkspaceParts {
  readonly repositories: ProjectRepositories;
  readonly store: WorkspaceStore;
  readonly reconciliation: WorkspaceReconciliation;
  readonly authorization: WorkspaceAuthorization;
}
