import type { Database } from "../database/mod.ts";
import { Forbidden } from "../errors.ts";
import { originOf } from "../identity/mod.ts";
import type { Project } from "../projects/mod.ts";
import type { WorkFence, WorkRequest } from "./interfaces.ts";
import type { WorkspaceParts } from "./parts.ts";
import type { Workspace } from "./records.ts";
import type { WorkspaceQuota } from "./quota.ts";

export interface TakingOverOptions {
  readonly database: Database;
  readonly claims: WorkFence;
  readonly quota: WorkspaceQuota;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Gives workspaces to other owners. */
export class TakingOver {
  readonly #parts: WorkspaceParts;
  readonly #options: TakingOverOptions;

  constructor(parts: WorkspaceParts, options: TakingOverOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /**
   * Makes the actor, who holds the claim of its ticket now, the owner of a workspace. An admin can
   * take over a workspace without a ticket; so can anybody if the owner's account is gone.
   *
   * @throws NotFound, Forbidden, Conflict, TooMany
   */
  takeOver(project: Project, name: string, request: WorkRequest): Promise<Workspace> {
    const { repositories, authorization, reconciliation } = this.#parts;
    const { database, quota, clock } = this.#options;
    const { actor, caller } = request;
    const take = async () => {
      const workspace = await authorization.requireActive(project, name, "take over");
      const generation = await this.#mayTake(project, workspace, request);
      if (workspace.owner.key !== actor.key) await quota.require(project, actor.key);
      const now = clock();
      const owner = { key: actor.key, name: actor.name };
      const taken = { ...workspace, owner, generation, updatedAt: now };
      await database.commit(
        await reconciliation.changeOf({
          action: "taken_over",
          project,
          workspace: taken,
          previousOwner: workspace.owner,
          checkin: null,
          extra: null,
          origin: originOf(caller),
          now,
        }),
      );
      return taken;
    };
    return quota.give(actor.key, () => repositories.exclusively(project, caller, take));
  }

  /**
   * Checks the actor's right to a workspace; returns the generation of the actor's claim, or null.
   */
  async #mayTake(
    project: Project,
    workspace: Workspace,
    { actor, isAdmin, generation }: WorkRequest,
  ): Promise<number | null> {
    const { ticket } = workspace;
    if (ticket !== null) {
      const { claims } = this.#options;
      return (await claims.fence(project, { ticket, actor, generation })).generation;
    }
    if (
      isAdmin || workspace.owner.key === actor.key || this.#parts.authorization.isOrphan(workspace)
    ) {
      return workspace.generation;
    }
    throw new Forbidden("Only an admin can take over a workspace without a ticket");
  }
}
