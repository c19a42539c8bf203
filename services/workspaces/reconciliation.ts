import type { Change } from "../database/mod.ts";
import type { ReceivedArtifact } from "../fossil/mod.ts";
import {
  projectEvent,
  type ProjectRepositories,
  type RegisteredKind,
  type SettledWrite,
} from "../projects/mod.ts";
import type { WorkspaceChange, WorkspaceListener } from "./interfaces.ts";
import { branchOf, type Workspace } from "./records.ts";
import type { WorkspaceStore } from "./store.ts";

/** A check-in that a write left. */
export type ReceivedCheckin = Extract<ReceivedArtifact, { kind: "checkin" }>;

/** The effect of a settled write on its workspace; null if the artifacts are not its own. */
type Outcome = Pick<WorkspaceChange, "workspace" | "checkin"> & { readonly extra?: unknown };

/**
 * Settles the changes of workspaces: the row, the event and the listeners' parts, in one
 * transaction.
 */
export class WorkspaceReconciliation {
  readonly store: WorkspaceStore;
  readonly #repositories: ProjectRepositories;
  readonly #listeners: WorkspaceListener[] = [];

  constructor(store: WorkspaceStore, repositories: ProjectRepositories) {
    this.store = store;
    this.#repositories = repositories;
  }

  /** Calls a listener for every change from now on, in the order of the calls of this method. */
  onChanged(listener: WorkspaceListener): void {
    this.#listeners.push(listener);
  }

  /**
   * Registers a kind of intention that changes one workspace.
   *
   * @param outcome finds out what the write did, from its body and its artifacts
   */
  register<Body>(
    action: WorkspaceChange["action"],
    outcome: (write: SettledWrite<Body>) => Outcome | null | Promise<Outcome | null>,
  ): RegisteredKind<Body> {
    return this.#repositories.intentions.register<Body>({
      name: `workspace.${action}`,
      settle: async (write) => {
        const done = await outcome(write);
        if (done === null) return {};
        const { project, origin, now } = write;
        return await this.changeOf({ action, project, origin, now, extra: null, ...done });
      },
    });
  }

  /** The change of the app database for a change of a workspace. */
  async changeOf(change: WorkspaceChange): Promise<Change> {
    const { workspace, action, project, origin, now, checkin } = change;
    const statements = [
      action === "created" ? this.store.insertion(workspace) : this.store.update(workspace),
    ];
    const events = action === "committed" ? [] : [
      projectEvent(project, "project.workspace", {
        name: workspace.name,
        branch: branchOf(workspace),
        status: workspace.status,
        agent_id: workspace.owner.name,
        action,
        previous_agent_id: change.previousOwner?.name ?? null,
        ticket: workspace.ticket,
        target_branch: workspace.targetBranch,
        checkin,
      }, { origin, time: now }),
    ];
    const added = [];
    for (const listener of this.#listeners) added.push(await listener(change));
    return {
      statements: [...statements, ...added.flatMap((one) => one.statements ?? [])],
      events: [...events, ...added.flatMap((one) => one.events ?? [])],
    };
  }
}

/** The check-in that a write left on a branch. */
export function checkinOn(
  artifacts: readonly ReceivedArtifact[],
  branch: string,
): ReceivedCheckin | undefined {
  return artifacts.find((artifact): artifact is ReceivedCheckin =>
    artifact.kind === "checkin" && artifact.branch === branch
  );
}

/** Whether a write left a card that closes check-ins (`+`) or opens them again (`-`). */
export function hasClosedTag(artifacts: readonly ReceivedArtifact[], sign: "+" | "-"): boolean {
  return artifacts.some((artifact) =>
    artifact.kind === "tag" &&
    artifact.tags.some((tag) => tag.name === "closed" && tag.sign === sign)
  );
}

/** A workspace after its change. */
export function changed(
  workspace: Workspace | null,
  change: Partial<Workspace>,
  now: number,
): Workspace | null {
  return workspace === null ? null : { ...workspace, ...change, updatedAt: now };
}
