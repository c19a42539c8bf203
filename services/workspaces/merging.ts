import type { Change } from "../database/mod.ts";
import type { Origin } from "../events/mod.ts";
import type { Project, RegisteredKind } from "../projects/mod.ts";
import type { MergeGate, WorkFence, WorkRequest } from "./interfaces.ts";
import type { WorkspaceParts } from "./parts.ts";
import { lineOf } from "./authorization.ts";
import { branchOf, type Workspace } from "./records.ts";
import { changed, checkinOn } from "./reconciliation.ts";
import { mergeConflict, requireBranchTip, requireTarget, requireTip } from "./tips.ts";

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

interface MergeBody {
  readonly workspaceId: string;
  readonly tip: string;
  readonly target: string;
  readonly base: string;
  readonly extra: unknown;
}

/** Merges workspaces into other branches. */
export class Merging {
  readonly #parts: WorkspaceParts;
  readonly #gates: MergeGate[] = [];
  readonly #kind: RegisteredKind<MergeBody>;

  constructor(parts: WorkspaceParts, claims: WorkFence) {
    this.#parts = parts;
    const { reconciliation, store } = parts;
    this.#kind = reconciliation.register("merged", async ({ body, artifacts, now }) => {
      const { workspaceId, tip, target, base, extra } = body;
      const checkin = checkinOn(artifacts, target);
      if (checkin === undefined || !checkin.parents.includes(tip)) return null;
      const workspace = changed(await store.get(workspaceId), {
        status: "merged",
        tip,
        base,
        mergedAs: checkin.uuid,
        targetBranch: target,
      }, now);
      return workspace === null ? null : { workspace, checkin: checkin.uuid, extra };
    });
    reconciliation.onChanged(({ action, workspace: { ticket, owner }, project, origin, now }) =>
      action === "merged" && ticket !== null
        ? claims.merged(project, { ticket, owner, origin, now })
        : {}
    );
  }

  /** The change of the app database for a merge by another service. */
  async settled(
    workspaceId: string,
    { tip, base, target, checkin, now, ...change }: SettledMerge,
  ): Promise<Change> {
    const { store, reconciliation } = this.#parts;
    const workspace = changed(
      await store.get(workspaceId),
      { status: "merged", tip, base, mergedAs: checkin, targetBranch: target },
      now,
    );
    if (workspace === null) return {};
    return await reconciliation.changeOf({ ...change, action: "merged", workspace, checkin, now });
  }

  /** Asks a gate before each merge from now on. */
  addGate(gate: MergeGate): void {
    this.#gates.push(gate);
  }

  /**
   * Merges the tip of a workspace, and closes the workspace, its branch and its ticket. Either all of
   * this happens, or nothing.
   *
   * @throws Conflict with `conflicts` if the merge has any, with `tip` if the workspace has moved
   * on; Forbidden, NotFound, Invalid, and what gates throw
   */
  async merge(project: Project, name: string, request: MergeRequest): Promise<WrittenMerge> {
    const { repositories, authorization } = this.#parts;
    const { extra = null, caller, actor } = request;
    const found = await authorization.requireActive(project, name, "merge");
    const { target, tip, base } = await repositories.read(project, async (repository) => {
      const target = request.target ?? await repository.mainBranch();
      requireTarget(target);
      await requireBranchTip(repository, target);
      return { target, ...await lineOf(repository, found, target) };
    });
    const body = { workspaceId: found.id, tip, target, base, extra };
    return await repositories.write(project, {
      caller,
      user: actor.name,
      intention: { kind: this.#kind, body },
      write: async (repository, stamp) => {
        const workspace = await this.#permit(project, name, request);
        const line = await lineOf(repository, workspace, target);
        requireTip(line, request.tip);
        requireTip(line, tip);
        const { isAdmin } = request;
        const resolved = new Set(workspace.ticket === null ? [] : [workspace.ticket]);
        for (const gate of this.#gates) {
          const tickets = await gate({ project, workspace, target, tip, actor, isAdmin, extra });
          for (const ticket of tickets) resolved.add(ticket);
        }
        const comment = request.message?.trim();
        const { checkin, preview } = await repository.merge({
          ...stamp,
          ours: await requireBranchTip(repository, target),
          theirs: tip,
          comment: comment || `Merge ${branchOf(workspace)} into ${target}`,
          integrate: true,
          onlyTip: true,
          followParents: true,
          resolves: [...resolved],
        });
        if (checkin === null) throw mergeConflict(preview);
        return { workspace, target, tip, uuid: checkin };
      },
    });
  }

  async #permit(project: Project, name: string, request: MergeRequest): Promise<Workspace> {
    const { authorization } = this.#parts;
    const workspace = await authorization.requireActive(project, name, "merge");
    if (request.forOwner !== true) authorization.requireOwner(workspace, request);
    await authorization.fence(project, workspace, request);
    return workspace;
  }
}
