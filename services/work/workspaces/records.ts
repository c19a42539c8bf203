/** Workspaces, what is asked of them, and what the services beside them see of their changes. */
import type { Selectable } from "kysely";
import type { Change, Tables } from "../../engines/database/mod.ts";
import type { Origin } from "../../engines/events/mod.ts";
import type { FileChange } from "../../engines/fossil/mod.ts";
import type { Caller } from "../../people/identity/mod.ts";
import type { Actor, Project } from "../projects/mod.ts";
import type { Claims, Holder } from "../tickets/mod.ts";

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

/** Who asks for a change of a workspace. */
export interface WorkRequest {
  readonly caller: Caller;
  readonly actor: Actor;
  /** Whether the caller may administer the project. */
  readonly isAdmin: boolean;
  /** The generation of the claim that the request names. */
  readonly generation?: number | undefined;
}

/** A workspace to begin. */
export interface NewWorkspace {
  readonly name: string;
  readonly description: string;
  /** The whole id of the workspace's ticket; the actor must hold its claim. */
  readonly ticket?: string | undefined;
  /** The branch from which it starts; the main branch by default. */
  readonly from?: string | undefined;
}

/** A workspace with its line in the repository. */
export interface OpenedWorkspace {
  readonly workspace: Workspace;
  readonly line: WorkspaceLine;
}

/** The content of a commit. */
export interface NewCommit {
  readonly message: string;
  readonly changes: readonly FileChange[];
  /** The check-in that the caller expects at the tip, or a prefix of its hash. */
  readonly parent?: string | undefined;
}

/** A merge of another branch into a workspace; its changes resolve the conflicts. */
export interface UpdateRequest extends WorkRequest, Omit<NewCommit, "message"> {
  /** The branch to merge; the main branch by default. */
  readonly source?: string | undefined;
  readonly message?: string | undefined;
  /** Texts in place of conflicts, by the ids of their hunks. */
  readonly decided?: Readonly<Record<string, string>>;
}

/** A written commit. */
export interface WrittenCommit {
  readonly workspace: Workspace;
  readonly uuid: string;
  readonly parent: string;
  readonly commitsMade: number;
}

/** A merge of a workspace. */
export interface MergeRequest extends WorkRequest {
  /** The check-in to merge, or a prefix of its hash; Conflict if it is no longer the tip. */
  readonly tip?: string | undefined;
  /** The branch to merge into; the main branch by default. */
  readonly target?: string | undefined;
  readonly message?: string | undefined;
  /** Whether the caller may merge another owner's workspace, because a review permits it. */
  readonly forOwner?: boolean;
  /** Passed to gates and listeners; must survive JSON. */
  readonly extra?: unknown;
}

/** A merged workspace. */
export interface WrittenMerge {
  readonly workspace: Workspace;
  readonly target: string;
  readonly tip: string;
  /** The check-in of the merge. */
  readonly uuid: string;
}

/** A merge in the repository. */
export interface SettledMerge {
  readonly project: Project;
  readonly tip: string;
  /** The check-in to which the tip's changes apply. */
  readonly base: string;
  readonly target: string;
  /** The check-in of the merge. */
  readonly checkin: string;
  readonly extra: unknown;
  readonly origin: Origin;
  readonly now: number;
}

/** The part of `Claims` that fences a workspace. */
export type WorkFence = Pick<
  Claims,
  "fence" | "fenceGivingUp" | "standing" | "renewing" | "merged" | "isLeftTo"
>;

/** A merge that a gate judges. */
export interface GatedMerge {
  readonly project: Project;
  readonly workspace: Workspace;
  readonly target: string;
  /** The check-in that will be merged. */
  readonly tip: string;
  readonly actor: Actor;
  readonly isAdmin: boolean;
  /** What the caller of `mergeExactly` gave as `extra`; null for the workspace's own endpoint. */
  readonly extra: unknown;
}

/**
 * Lets a merge pass, or throws Forbidden if a rule forbids it, or Conflict if the state does. It is
 * called while nothing else is written to the project's repository, and must not write there.
 *
 * @returns the whole ids of the tickets that the merge closes, beside the workspace's own
 */
export type MergeGate = (merge: GatedMerge) => Promise<readonly string[]>;

/** A change of a workspace that is being settled. */
export interface WorkspaceChange {
  readonly action: "created" | "committed" | "merged" | "abandoned" | "restored" | "taken_over";
  readonly project: Project;
  /** The workspace after the change. */
  readonly workspace: Workspace;
  /** From whom it was taken over. */
  readonly previousOwner?: Holder;
  /** The check-in that the change made; null for none. */
  readonly checkin: string | null;
  /** What the caller of `mergeExactly` gave as `extra`, after a trip through JSON; else null. */
  readonly extra: unknown;
  readonly origin: Origin;
  readonly now: number;
}

/**
 * Adds statements and events to the transaction that settles a change of a workspace. Like `settle`
 * of an intention, it may be called after a crash: it uses only its argument and the database, and
 * none of its statements is `mustChange`.
 */
export type WorkspaceListener = (change: WorkspaceChange) => Change | Promise<Change>;
