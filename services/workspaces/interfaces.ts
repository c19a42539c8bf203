/** The interfaces between workspaces and the services beside them. */
import type { Change } from "../database/mod.ts";
import type { Origin } from "../events/mod.ts";
import type { Caller } from "../identity/mod.ts";
import type { Actor, Project } from "../projects/mod.ts";
import type { Claim, ClaimsOfWork, FenceRequest, Holder } from "../tickets/mod.ts";
import type { Workspace } from "./records.ts";

/** The part of `Claims` that fences a workspace. */
export interface WorkFence extends ClaimsOfWork {
  /** @throws Conflict if the claim does not permit the write */
  fence(project: Pick<Project, "id">, request: FenceRequest): Promise<Claim>;
  /** Like `fence`, without renewing the lease. */
  standing(project: Pick<Project, "id">, request: FenceRequest): Promise<Claim>;
  renewing(
    project: Pick<Project, "id">,
    acts: readonly { readonly ticket: string; readonly holder: Pick<Holder, "key"> }[],
  ): Change;
  merged(project: Project, merge: {
    readonly ticket: string;
    readonly owner?: Holder | undefined;
    readonly origin: Origin;
    readonly now: number;
  }): Promise<Change>;
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
