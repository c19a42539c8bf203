import { monotonicFactory } from "ulid";
import type { Change, Database } from "../database/mod.ts";
import { Conflict, Invalid } from "../errors.ts";
import type { Diff, DiffOptions } from "../fossil/mod.ts";
import type { AccountDirectory } from "../identity/mod.ts";
import type { Project, ProjectRepositories, RegisteredKind } from "../projects/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Holder } from "../tickets/mod.ts";
import { ChangedPaths } from "./changed_paths.ts";
import { Overlaps } from "./overlaps.ts";
import { Closing } from "./closing.ts";
import {
  Committing,
  type NewCommit,
  type UpdateRequest,
  type WrittenCommit,
} from "./committing.ts";
import { ForeignEndings } from "./foreign_endings.ts";
import type { MergeGate, WorkFence, WorkRequest, WorkspaceListener } from "./interfaces.ts";
import { type MergeRequest, Merging, type SettledMerge, type WrittenMerge } from "./merging.ts";
import type { WorkspaceParts } from "./parts.ts";
import { lineOf, linesOf, WorkspaceAuthorization } from "./authorization.ts";
import { renewPushedWork } from "./pushed_work.ts";
import { branchOf, type Workspace, type WorkspaceLine, type WorkspaceStatus } from "./records.ts";
import { checkinOn, WorkspaceReconciliation } from "./reconciliation.ts";
import { type WorkspaceLimits, WorkspaceQuota } from "./quota.ts";
import { WorkspaceStore } from "./store.ts";
import { TakingOver } from "./taking_over.ts";
import { requireBranchTip } from "./tips.ts";

export interface WorkspacesOptions {
  readonly database: Database;
  readonly repositories: ProjectRepositories;
  readonly accounts: Pick<AccountDirectory, "get">;
  readonly claims: WorkFence;
  readonly scheduler: Scheduler;
  /** Active workspaces of one owner and of one project. */
  readonly limits: WorkspaceLimits;
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

interface CreationBody extends Pick<NewWorkspace, "name" | "description"> {
  readonly id: string;
  readonly owner: Holder;
  readonly ticket: string | null;
  readonly generation: number | null;
}

/** The contract's words. */
const INVALID_NAME =
  "Invalid workspace name. Use alphanumeric characters, hyphens, dots, and underscores.";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,198}$/;

/**
 * Workspaces: branches `workspace/NAME`, without a checkout. The content of a branch is read from
 * the repository each time; the database holds its owner, its ticket, and how it ended.
 */
export class Workspaces {
  readonly overlaps: Overlaps;
  readonly #committing: Committing;
  readonly #options: WorkspacesOptions;
  readonly #parts: WorkspaceParts;
  readonly #merging: Merging;
  readonly #closing: Closing;
  readonly #takingOver: TakingOver;
  readonly #paths: ChangedPaths;
  readonly #quota: WorkspaceQuota;
  /** Monotonic, so that lists have an order within a millisecond. */
  readonly #newId = monotonicFactory();
  readonly #creating: RegisteredKind<CreationBody>;

  constructor(options: WorkspacesOptions) {
    const { database, repositories, claims, accounts } = options;
    const store = new WorkspaceStore(database);
    const reconciliation = new WorkspaceReconciliation(store, repositories);
    this.#quota = new WorkspaceQuota(store, options.limits);
    const authorization = new WorkspaceAuthorization({ store, claims, accounts });
    this.#options = options;
    this.#parts = { repositories, store, reconciliation, authorization };
    this.#merging = new Merging(this.#parts, claims);
    this.#committing = new Committing(this.#parts);
    this.#closing = new Closing(this.#parts);
    this.#paths = new ChangedPaths(repositories);
    const clock = () => options.scheduler.now();
    this.#takingOver = new TakingOver(this.#parts, { database, claims, quota: this.#quota, clock });
    const overlaps = new Overlaps({ database, repositories, paths: this.#paths, store, clock });
    reconciliation.onChanged(({ action, workspace }) =>
      action === "merged" ? { statements: overlaps.forgetting(workspace) } : {}
    );
    this.overlaps = overlaps;
    const endings = new ForeignEndings(this.#parts);
    repositories.onReceived((reception) => endings.observe(reception));
    repositories.onReceived((reception) => renewPushedWork({ store, claims }, reception));
    this.#creating = reconciliation.register<CreationBody>(
      "created",
      ({ project, body, artifacts, now }) => {
        const checkin = checkinOn(artifacts, branchOf(body));
        if (checkin === undefined) return null;
        const workspace: Workspace = {
          ...body,
          projectId: project.id,
          status: "active",
          startedAs: checkin.uuid,
          base: checkin.parents[0] ?? checkin.uuid,
          tip: null,
          mergedAs: null,
          targetBranch: null,
          createdAt: now,
          updatedAt: now,
        };
        return { workspace, checkin: checkin.uuid };
      },
    );
  }

  /** Asks a gate before each merge: reviews, checks and branch protection. */
  addGate(gate: MergeGate): void {
    this.#merging.addGate(gate);
  }

  /** Adds a listener's statements and events to each change of a workspace. */
  onChanged(listener: WorkspaceListener): void {
    this.#parts.reconciliation.onChanged(listener);
  }

  /** The workspace of an id, or null. */
  get(id: string): Promise<Workspace | null> {
    return this.#parts.store.get(id);
  }

  /**
   * The newest workspace of a name. Older ones of the same name have only their id.
   *
   * @throws NotFound
   */
  find(project: Pick<Project, "id">, name: string): Promise<Workspace> {
    return this.#parts.store.require(project, name);
  }

  /**
   * The keys of the owners of active workspaces that changed since a time: by a commit, or because
   * they began.
   *
   * @param time Unix milliseconds
   */
  recentOwners(time: number): Promise<ReadonlySet<string>> {
    return this.#parts.store.recentOwners(time);
  }

  /** The active workspaces of an owner in all projects, newest first. */
  activeOf(ownerKey: string, limit: number): Promise<readonly Workspace[]> {
    return this.#parts.store.activeOf(ownerKey, limit);
  }

  /** A page of workspaces, newest first; of one status, unless it is null. */
  async list(
    project: Project,
    page: {
      readonly status: WorkspaceStatus | null;
      readonly ticket?: string | undefined;
      /** The key of the only owner. */
      readonly owner?: string | undefined;
      readonly limit: number;
      readonly offset: number;
    },
  ): Promise<{ readonly workspaces: readonly OpenedWorkspace[]; readonly total: number }> {
    const { workspaces, total } = await this.#parts.store.page(project, page);
    const lines = await this.#parts.repositories.read(
      project,
      (repository) => linesOf(repository, workspaces),
    );
    return {
      total,
      workspaces: workspaces.flatMap((workspace, index) => {
        const line = lines[index];
        return line === undefined ? [] : [{ workspace, line }];
      }),
    };
  }

  /**
   * The line of a workspace in the repository: its tip, and the base to which its changes apply.
   *
   * @param target the branch into which it will be merged; null for the main branch
   */
  line(
    project: Project,
    workspace: Workspace,
    target: string | null = null,
  ): Promise<WorkspaceLine> {
    return this.#parts.repositories.read(
      project,
      (repository) => lineOf(repository, workspace, target),
    );
  }

  /** The differences between two check-ins, as unified diffs. */
  diff(
    project: Project,
    sides: Pick<DiffOptions, "from" | "to" | "maxBytes" | "limit">,
  ): Promise<Diff> {
    return this.#parts.repositories.read(project, (repository) => repository.diff(sides));
  }

  /**
   * The files that differ between the base and the tip of a workspace, without their content.
   *
   * @param limit at most so many; `total` counts them all
   */
  async files(
    project: Project,
    { base, tip }: WorkspaceLine,
    limit?: number,
  ): Promise<Pick<Diff, "files" | "total">> {
    const sides = { from: base, to: tip, maxBytes: 0 };
    return await this.diff(project, limit === undefined ? sides : { ...sides, limit });
  }

  /** How many files each workspace changes. */
  fileCounts(project: Project, opened: readonly OpenedWorkspace[]): Promise<number[]> {
    return Promise.all(
      opened.map(async ({ line }) => (await this.#paths.of(project, line)).files),
    );
  }

  /**
   * Creates a workspace with its own branch.
   *
   * @throws Invalid, NotFound, Forbidden, TooMany
   * @throws Conflict if the name or its branch is in use, or the actor does not hold the ticket's
   * claim
   */
  create(project: Project, made: NewWorkspace, request: WorkRequest): Promise<OpenedWorkspace> {
    requireName(made.name);
    return this.#quota.give(request.actor.key, () => this.#create(project, made, request));
  }

  async #create(
    project: Project,
    { name, description, ticket, from }: NewWorkspace,
    { caller, actor, generation }: WorkRequest,
  ): Promise<OpenedWorkspace> {
    const { repositories, store } = this.#parts;
    const { claims, scheduler } = this.#options;
    const claim = ticket === undefined
      ? null
      : await claims.fence(project, { ticket, actor, generation });
    await this.#requireFree(project, name);
    await this.#quota.require(project, actor.key);
    const id = this.#newId(scheduler.now());
    const body: CreationBody = {
      id,
      name,
      description,
      owner: { key: actor.key, name: actor.name },
      ticket: ticket ?? null,
      generation: claim?.generation ?? null,
    };
    await repositories.write(project, {
      caller,
      user: actor.name,
      intention: { kind: this.#creating, body },
      write: async (repository, stamp) => {
        await this.#requireFree(project, name);
        await this.#quota.require(project, actor.key);
        if (ticket !== undefined) await claims.fence(project, { ticket, actor, generation });
        const branch = branchOf({ name });
        if (await repository.branchTip(branch) !== null) {
          throw new Conflict(`An open branch "${branch}" already exists`);
        }
        const start = await requireBranchTip(repository, from ?? await repository.mainBranch());
        return await repository.startBranch({
          ...stamp,
          name: branch,
          from: start,
          followParents: true,
        });
      },
    });
    const workspace = await store.get(id);
    if (workspace === null) throw new Conflict("The workspace was not created: try again");
    return { workspace, line: await this.line(project, workspace) };
  }

  /** Commits changes of files. See {@link Committing.commit}. */
  commit(
    project: Project,
    name: string,
    request: WorkRequest & NewCommit,
  ): Promise<WrittenCommit> {
    return this.#committing.commit(project, name, request);
  }

  /** Merges a branch into a workspace. See {@link Committing.update}. */
  update(project: Project, name: string, request: UpdateRequest): Promise<WrittenCommit> {
    return this.#committing.update(project, name, request);
  }

  /**
   * Merges the tip of a workspace, and closes the workspace and its branch. See {@link Merging}.
   */
  merge(project: Project, name: string, request: MergeRequest): Promise<WrittenMerge> {
    return this.#merging.merge(project, name, request);
  }

  /**
   * Merges exactly this check-in of a workspace, which must be its tip. The calling service has
   * already checked the actor's right, for instance by a review. Gates and listeners receive
   * `extra`; the listeners' statements and events are part of the same transaction.
   *
   * @throws like {@link merge}
   */
  mergeExactly(
    project: Project,
    { workspace, tip, target, message, extra, ...request }: WorkRequest & {
      readonly workspace: Pick<Workspace, "name">;
      /** Its whole hash. */
      readonly tip: string;
      readonly target: string;
      readonly message?: string | undefined;
      readonly extra?: unknown;
    },
  ): Promise<WrittenMerge> {
    const merge = { ...request, tip, target, message, extra, forOwner: true };
    return this.#merging.merge(project, workspace.name, merge);
  }

  /**
   * The change of the app database for a workspace that reached its target without `merge`. It
   * depends only on the argument and the database, so `settle` of an intention can return it.
   */
  merged(
    { workspaceId, ...merge }: SettledMerge & { readonly workspaceId: string },
  ): Promise<Change> {
    return this.#merging.settled(workspaceId, merge);
  }

  /** The branches of the active workspaces of a project. */
  async activeBranches(project: Project): Promise<string[]> {
    return (await this.#parts.store.allActive(project)).map(branchOf);
  }

  /** See {@link WorkspaceAuthorization.fenceGivingUp}. */
  fenceGivingUp(project: Project, workspace: Workspace, request: WorkRequest): Promise<void> {
    return this.#parts.authorization.fenceGivingUp(project, workspace, request);
  }

  /** See {@link WorkspaceAuthorization.refusals}. */
  pushRefusals(
    project: Project,
    request: WorkRequest,
  ): ReturnType<WorkspaceAuthorization["refusals"]> {
    return this.#parts.authorization.refusals(project, request);
  }

  /** Closes a workspace and its branch; nothing is erased. See {@link Closing.abandon}. */
  abandon(project: Project, name: string, request: WorkRequest): Promise<Workspace> {
    return this.#closing.abandon(project, name, request);
  }

  /** Opens an abandoned workspace again. See {@link Closing.restore}. */
  restore(project: Project, name: string, request: WorkRequest): Promise<Workspace> {
    return this.#closing.restore(project, name, request, this.#quota);
  }

  /** Makes the actor the owner of a workspace. See {@link TakingOver.takeOver}. */
  takeOver(project: Project, name: string, request: WorkRequest): Promise<Workspace> {
    return this.#takingOver.takeOver(project, name, request);
  }

  async #requireFree(project: Project, name: string): Promise<void> {
    if (await this.#parts.store.active(project, name) === null) return;
    throw new Conflict(`Workspace '${name}' already exists`);
  }
}

function requireName(name: string): void {
  if (name === "") throw new Invalid("Workspace name is required");
  if (NAME.test(name)) return;
  throw new Invalid(INVALID_NAME);
}
