import { Conflict, Forbidden } from "../errors.ts";
import type { PooledRepository } from "../fossil/mod.ts";
import type { AccountDirectory } from "../identity/mod.ts";
import { hasEnded, type Project } from "../projects/mod.ts";
import { fenceGivingUp, type FenceRequest } from "../tickets/mod.ts";
import type { WorkFence, WorkRequest } from "./interfaces.ts";
import { branchOf, type Workspace, type WorkspaceLine } from "./records.ts";
import type { WorkspaceStore } from "./store.ts";

/** Decides who may change a workspace. */
export class WorkspaceAuthorization {
  readonly #store: WorkspaceStore;
  readonly #claims: WorkFence;
  readonly #accounts: Pick<AccountDirectory, "get">;

  constructor(options: {
    readonly store: WorkspaceStore;
    readonly claims: WorkFence;
    readonly accounts: Pick<AccountDirectory, "get">;
  }) {
    this.#store = options.store;
    this.#claims = options.claims;
    this.#accounts = options.accounts;
  }

  /**
   * The active workspace of a name.
   *
   * @param verb the refused action, for the error's text
   * @throws NotFound, Conflict
   */
  async requireActive(project: Project, name: string, verb: string): Promise<Workspace> {
    const workspace = await this.#store.require(project, name);
    if (workspace.status !== "active") {
      throw new Conflict(`Workspace is ${workspace.status}, cannot ${verb}`);
    }
    return workspace;
  }

  /** @throws Forbidden if the workspace belongs to somebody else */
  requireOwner({ owner }: Workspace, { actor, isAdmin }: WorkRequest): void {
    if (owner.key === actor.key || isAdmin) return;
    throw new Forbidden(
      `Only the owning agent can modify this workspace: it belongs to "${owner.name}". ` +
        "With the claim of its ticket, or if that agent is removed, POST …/takeover makes it yours",
    );
  }

  /**
   * Requires that the owner still holds the claim of the workspace's ticket. An admin other than
   * the owner needs no claim.
   *
   * @throws Conflict
   */
  async fence(project: Project, workspace: Workspace, request: WorkRequest): Promise<void> {
    const question = fenceOf(workspace, request);
    if (question !== null) await this.#claims.fence(project, question);
  }

  /**
   * Requires that a workspace is still its owner's to give up. An admin other than the owner may
   * always do so.
   *
   * @throws Conflict
   */
  async fenceGivingUp(project: Project, workspace: Workspace, request: WorkRequest): Promise<void> {
    const question = fenceOf(workspace, request);
    if (question !== null) await fenceGivingUp(this.#claims, project, question);
  }

  /**
   * The branches of active workspaces, with the clause that refuses the actor's check-ins, or null if
   * they are welcome. Renews no lease. Nothing else may be written to the project meanwhile.
   */
  async refusals(
    project: Project,
    request: WorkRequest,
  ): Promise<Readonly<Record<string, string | null>>> {
    const refusals: Record<string, string | null> = {};
    for (const workspace of await this.#store.allActive(project)) {
      refusals[branchOf(workspace)] = await this.#refusalOf(project, workspace, request);
    }
    return refusals;
  }

  async #refusalOf(
    project: Project,
    workspace: Workspace,
    request: WorkRequest,
  ): Promise<string | null> {
    try {
      this.requireOwner(workspace, request);
      const question = fenceOf(workspace, request);
      if (question !== null) await this.#claims.standing(project, question);
      return null;
    } catch (error) {
      if (error instanceof Forbidden) return error.message;
      if (error instanceof Conflict) return withLease(error);
      throw error;
    }
  }

  /** Whether the owner's account is removed or revoked. */
  isOrphan({ owner }: Workspace): boolean {
    return hasEnded(owner, this.#accounts);
  }
}

/** What the claims are asked before a write; null if the write needs no claim. */
function fenceOf(
  { ticket, owner }: Workspace,
  { actor, isAdmin, generation }: WorkRequest,
): FenceRequest | null {
  if (ticket === null || (isAdmin && actor.key !== owner.key)) return null;
  return { ticket, actor: owner, ...(actor.key === owner.key ? { generation } : {}) };
}

/** The fence's refusal as one clause, with what the API tells beside it. */
function withLease({ message, details }: Conflict): string {
  const { claimed_by, generation, expires_at } = details;
  if (typeof claimed_by !== "string") return message;
  return `${message} (generation ${generation}, until ${expires_at})`;
}

/**
 * The lines of workspaces, in the same order.
 *
 * @param target the branch into which they will be merged; null for the main branch
 */
export async function linesOf(
  repository: PooledRepository,
  workspaces: readonly Workspace[],
  target: string | null = null,
): Promise<WorkspaceLine[]> {
  if (workspaces.length === 0) return [];
  const lines = await repository.lines(
    workspaces.map((workspace) => ({
      branch: branchOf(workspace),
      start: workspace.startedAs,
      ...(workspace.status === "merged" ? {} : { target }),
    })),
  );
  return lines.map(({ tip, base, checkins, leaves, is_closed }, index): WorkspaceLine => ({
    tip: workspaces[index]?.tip ?? tip,
    base: workspaces[index]?.status === "merged" ? workspaces[index].base : base,
    commitsMade: checkins - 1,
    leaves,
    isClosed: is_closed,
  }));
}

/** The line of one workspace; see {@link linesOf}. */
export async function lineOf(
  repository: PooledRepository,
  workspace: Workspace,
  target: string | null = null,
): Promise<WorkspaceLine> {
  const [line] = await linesOf(repository, [workspace], target);
  if (line === undefined) throw new Error("A line is missing from the answer");
  return line;
}
