import type { Selectable } from "kysely";
import type { Tables } from "../database/mod.ts";
import type { Holder } from "../tickets/mod.ts";

export type WorkspaceStatus = "active" | "merged" | "abandoned";

/** A branch on which an agent works. Times are Unix milliseconds. */
export interface Workspace {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly description: string;
  readonly status: WorkspaceStatus;
  readonly owner: Holder;
  /** The whole id of its ticket, or null. */
  readonly ticket: string | null;
  /** The generation of its owner's claim of the ticket, or null. */
  readonly generation: number | null;
  /** The check-in that starts its branch. */
  readonly startedAs: string;
  /** The check-in where it branched off; after a merge, the one to which its changes applied. */
  readonly base: string;
  /** The merged check-in, the merge and its branch; null before. */
  readonly tip: string | null;
  readonly mergedAs: string | null;
  readonly targetBranch: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The branch of a workspace in the repository. */
export interface WorkspaceLine {
  readonly tip: string;
  /** The check-in to which its changes apply. */
  readonly base: string;
  readonly commitsMade: number;
  readonly leaves: readonly string[];
  readonly isClosed: boolean;
}

const WORKSPACE_PREFIX = "workspace/";
/** How the branches of landing candidates begin. */
export const LANDING_PREFIX = "landing/";

/** The branch of a workspace. */
export function branchOf({ name }: Pick<Workspace, "name">): string {
  return `${WORKSPACE_PREFIX}${name}`;
}

/** How the branches begin on which work passes: it ends elsewhere. */
export const PASSING_PREFIXES = [WORKSPACE_PREFIX, LANDING_PREFIX] as const;

/** Whether a branch is a workspace's or a landing candidate's: work passes through it, and ends elsewhere. */
export function isPassing(branch: string): boolean {
  return PASSING_PREFIXES.some((prefix) => branch.startsWith(prefix));
}

export function workspaceOf(row: Selectable<Tables["workspaces"]>): Workspace {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    description: row.description,
    status: row.status,
    owner: { key: row.owner_key, name: row.owner_name },
    ticket: row.ticket,
    generation: row.generation,
    startedAs: row.started_as,
    base: row.base,
    tip: row.tip,
    mergedAs: row.merged_as,
    targetBranch: row.target_branch,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
