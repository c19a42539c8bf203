/** Who may change a workspace, and how many active ones there may be. */
import { slotFull, type Slots } from "../../people/agents/mod.ts";
import { Conflict, Forbidden, TooMany, Unavailable } from "../../kernel/errors.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { Semaphore } from "../../kernel/semaphore.ts";
import { hasEnded, isSameActor, type Project } from "../projects/mod.ts";
import type { FenceRequest } from "../tickets/mod.ts";
import { branchOf, type WorkFence, type WorkRequest, type Workspace } from "./records.ts";
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
    if (isSameActor(owner, actor) || isAdmin) return;
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
    if (question !== null) await this.#claims.fenceGivingUp(project, question);
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
  const isOwn = isSameActor(actor, owner);
  if (ticket === null || (isAdmin && !isOwn)) return null;
  return { ticket, actor: owner, ...(isOwn ? { generation } : {}) };
}

/** The fence's refusal as one clause, with what the API tells beside it. */
function withLease({ message, details }: Conflict): string {
  const { claimed_by, generation, expires_at } = details;
  if (typeof claimed_by !== "string") return message;
  return `${message} (generation ${generation}, until ${expires_at})`;
}

/** Most workspaces that a refusal reads. */
const MAX_TOLD = 20;

/** Tasks of one owner that may wait; further ones are refused. */
const MAX_WAITING = 1000;

/** How many active workspaces there may be. */
export interface WorkspaceLimits {
  /** Those of an owner, in all projects together. */
  readonly slots: Pick<Slots, "limitOf">;
  readonly perProject: number;
}

/** Bounds the active workspaces of one owner, in all projects together, and of one project. */
export class WorkspaceQuota {
  readonly #store: WorkspaceStore;
  readonly #limits: WorkspaceLimits;
  /** By owner. */
  readonly #turns = new Semaphore({
    permitsPerKey: 1,
    maxWaitingPerKey: MAX_WAITING,
    refusal: () => new Unavailable("Too many changes are waiting for your workspaces"),
  });

  constructor(
    store: WorkspaceStore,
    limits: WorkspaceLimits,
  ) {
    this.#store = store;
    this.#limits = limits;
  }

  /**
   * Runs a task that may give an owner one more workspace. An owner's tasks run one at a time, because
   * writes to different projects do not wait for each other. Never call it inside a project's write.
   *
   * @throws Unavailable if too many of the owner's tasks wait; else what the task throws
   */
  async give<T>(ownerKey: string, task: () => Promise<T>): Promise<T> {
    using _turn = await this.#turns.acquire(ownerKey);
    return await task();
  }

  /** @throws TooMany if the owner or the project has no room for one more */
  async require(project: Project, ownerKey: string): Promise<void> {
    const { slots, perProject } = this.#limits;
    const perAgent = slots.limitOf("workspaces", ownerKey);
    const { ofProject, ofOwner } = await this.#store.counts(project, ownerKey);
    if (ofOwner >= perAgent) {
      const active = await this.#store.activeOf(ownerKey, MAX_TOLD);
      const filling = active.map(({ name }) => name);
      const advice = "merge or abandon some";
      throw slotFull({ slot: "workspaces", limit: perAgent, filling, advice });
    }
    if (ofProject >= perProject) {
      throw new TooMany(`A project has at most ${perProject} active workspaces`);
    }
  }
}
