import { monotonicFactory } from "ulid";
import type { Change, Database } from "../../engines/database/mod.ts";
import { Conflict, Forbidden, Invalid } from "../../kernel/errors.ts";
import type { Diff, DiffOptions, PooledRepository } from "../../engines/fossil/mod.ts";
import { type AccountDirectory, originOf } from "../../people/identity/mod.ts";
import {
  type Intended,
  isSameActor,
  type Project,
  type ProjectRepositories,
  type RegisteredKind,
  type Stamp,
} from "../projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Holder } from "../tickets/mod.ts";
import { WorkspaceAuthorization, type WorkspaceLimits, WorkspaceQuota } from "./authorization.ts";
import { endForeignWork, renewPushedWork } from "./foreign_work.ts";
import {
  checkinOn,
  hasClosedTag,
  lineOf,
  linesOf,
  mergeConflict,
  requireBranchTip,
  requireTarget,
  requireTip,
} from "./lines.ts";
import { ChangedPaths, Overlaps } from "./overlaps.ts";
import {
  branchOf,
  type MergeGate,
  type MergeRequest,
  type NewCommit,
  type NewWorkspace,
  type OpenedWorkspace,
  type SettledMerge,
  type UpdateRequest,
  type WorkFence,
  type WorkRequest,
  type Workspace,
  type WorkspaceLine,
  type WorkspaceListener,
  type WorkspaceStatus,
  type WrittenCommit,
  type WrittenMerge,
} from "./records.ts";
import { changed, WorkspaceStore } from "./store.ts";

export interface WorkspacesOptions {
  readonly database: Database;
  readonly repositories: ProjectRepositories;
  readonly accounts: Pick<AccountDirectory, "get">;
  readonly claims: WorkFence;
  readonly scheduler: Scheduler;
  /** Active workspaces of one owner and of one project. */
  readonly limits: WorkspaceLimits;
}

interface CreationBody extends Pick<NewWorkspace, "name" | "description"> {
  readonly id: string;
  readonly owner: Holder;
  readonly ticket: string | null;
  readonly generation: number | null;
}

/** A change of one workspace, which its intention names. */
interface ChangeBody {
  readonly workspaceId: string;
}

interface MergeBody extends ChangeBody {
  readonly tip: string;
  readonly target: string;
  readonly base: string;
  readonly extra: unknown;
}

/** The contract's words. */
/** Bytes of new content of a commit that shares a transaction with other writes. */
const MAX_SHORT_COMMIT = 256 * 1024;

const INVALID_NAME =
  "Invalid workspace name. Use alphanumeric characters, hyphens, dots, and underscores.";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,198}$/;

/**
 * Workspaces: branches `workspace/NAME`, without a checkout. The content of a branch is read from
 * the repository each time; the database holds its owner, its ticket, and how it ended.
 */
export class Workspaces {
  readonly overlaps: Overlaps;
  readonly #options: WorkspacesOptions;
  readonly #repositories: ProjectRepositories;
  readonly #store: WorkspaceStore;
  readonly #authorization: WorkspaceAuthorization;
  readonly #paths: ChangedPaths;
  readonly #quota: WorkspaceQuota;
  readonly #gates: MergeGate[] = [];
  /** Monotonic, so that lists have an order within a millisecond. */
  readonly #newId = monotonicFactory();
  readonly #creating: RegisteredKind<CreationBody>;
  readonly #committing: RegisteredKind<ChangeBody>;
  readonly #merging: RegisteredKind<MergeBody>;
  readonly #abandoning: RegisteredKind<ChangeBody>;
  readonly #restoring: RegisteredKind<ChangeBody>;

  constructor(options: WorkspacesOptions) {
    const { database, repositories, claims, accounts, scheduler } = options;
    const store = new WorkspaceStore(database, repositories);
    this.#options = options;
    this.#repositories = repositories;
    this.#store = store;
    this.#quota = new WorkspaceQuota(store, options.limits);
    this.#authorization = new WorkspaceAuthorization({ store, claims, accounts });
    this.#paths = new ChangedPaths(repositories);
    this.overlaps = new Overlaps({
      database,
      repositories,
      paths: this.#paths,
      store,
      clock: () => scheduler.now(),
    });
    store.onChanged(({ action, workspace: { ticket, owner }, project, origin, now }) =>
      action === "merged" && ticket !== null
        ? claims.merged(project, { ticket, owner, origin, now })
        : {}
    );
    store.onChanged(({ action, workspace }) =>
      action === "merged" ? { statements: this.overlaps.forgetting(workspace) } : {}
    );
    repositories.onReceived((reception) => endForeignWork({ repositories, store }, reception));
    repositories.onReceived((reception) => renewPushedWork({ store, claims }, reception));
    this.#creating = registerCreation(store);
    this.#committing = registerCommit(store);
    this.#merging = registerMerge(store);
    this.#abandoning = registerClosing(store, "abandoned");
    this.#restoring = registerClosing(store, "restored");
  }

  /** Asks a gate before each merge from now on: reviews, checks and branch protection. */
  addGate(gate: MergeGate): void {
    this.#gates.push(gate);
  }

  /** Adds a listener's statements and events to each change of a workspace. */
  onChanged(listener: WorkspaceListener): void {
    this.#store.onChanged(listener);
  }

  /** The workspace of an id, or null. */
  get(id: string): Promise<Workspace | null> {
    return this.#store.get(id);
  }

  /**
   * The newest workspace of a name. Older ones of the same name have only their id.
   *
   * @throws NotFound
   */
  find(project: Pick<Project, "id">, name: string): Promise<Workspace> {
    return this.#store.require(project, name);
  }

  /**
   * The keys of the owners of active workspaces that changed since a time: by a commit, or because
   * they began.
   *
   * @param time Unix milliseconds
   */
  recentOwners(time: number): Promise<ReadonlySet<string>> {
    return this.#store.recentOwners(time);
  }

  /** The active workspaces of an owner in all projects, newest first. */
  activeOf(ownerKey: string, limit: number): Promise<readonly Workspace[]> {
    return this.#store.activeOf(ownerKey, limit);
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
    const { workspaces, total } = await this.#store.page(project, page);
    const lines = await this.#repositories.read(
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
    return this.#repositories.read(
      project,
      (repository) => lineOf(repository, workspace, target),
    );
  }

  /** The differences between two check-ins, as unified diffs. */
  diff(
    project: Project,
    sides: Pick<DiffOptions, "from" | "to" | "maxBytes" | "limit">,
  ): Promise<Diff> {
    return this.#repositories.read(project, (repository) => repository.diff(sides));
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
    await this.#repositories.write(project, {
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
    const workspace = await this.#store.get(id);
    if (workspace === null) throw new Conflict("The workspace was not created: try again");
    return { workspace, line: await this.line(project, workspace) };
  }

  /**
   * Prepares a workspace that a push begins with its first check-in. Call this while nothing else is
   * written to the project.
   *
   * @returns what to intend before the push is stored
   * @throws Invalid, TooMany
   * @throws Conflict if the name is in use, or the actor does not hold the ticket's claim
   */
  async beginning(
    project: Project,
    { name, description, ticket }: Omit<NewWorkspace, "from">,
    { actor, generation }: WorkRequest,
  ): Promise<Intended<CreationBody>> {
    const { claims, scheduler } = this.#options;
    requireName(name);
    await this.#requireFree(project, name);
    await this.#quota.require(project, actor.key);
    const claim = ticket === undefined
      ? null
      : await claims.fence(project, { ticket, actor, generation });
    const body = {
      id: this.#newId(scheduler.now()),
      name,
      description,
      owner: { key: actor.key, name: actor.name },
      ticket: ticket ?? null,
      generation: claim?.generation ?? null,
    };
    return { kind: this.#creating, body };
  }

  /**
   * Commits changes of files.
   *
   * @throws Invalid if the engine refuses a path or content; NotFound, Forbidden
   * @throws Conflict if the workspace is not active, has moved on from `parent`, or would not
   * change
   */
  commit(
    project: Project,
    name: string,
    { message, changes, parent, ...request }: WorkRequest & NewCommit,
  ): Promise<WrittenCommit> {
    if (message.trim() === "") throw new Invalid("Commit message is required");
    const isShort = bytesOf(changes) <= MAX_SHORT_COMMIT;
    const asked = { ...request, parent, isShort };
    return this.#commit(project, name, asked, async (repository, stamp, line) => {
      if (changes.length === 0) throw new Conflict("Nothing to commit");
      const checkin = { ...stamp, parent: line.tip, comment: message, changes };
      try {
        return await repository.commit({ ...checkin, followParents: true });
      } catch (error) {
        throw isEmptyCommit(error) ? new Conflict("Nothing to commit") : error;
      }
    });
  }

  /**
   * Merges a branch into a workspace, so that the workspace's changes apply to the branch's tip.
   *
   * @throws Conflict with `conflicts` if `changes` do not resolve all of them; otherwise like
   * `commit`
   */
  update(
    project: Project,
    name: string,
    { message, changes, parent, source, decided = {}, ...request }: UpdateRequest,
  ): Promise<WrittenCommit> {
    const asked = { ...request, parent, isShort: false };
    return this.#commit(project, name, asked, async (repository, stamp, line) => {
      const { checkin, preview } = await repository.merge({
        ...stamp,
        ours: line.tip,
        theirs: await requireBranchTip(repository, source ?? await repository.mainBranch()),
        resolutions: changes,
        decided,
        followParents: true,
        ...(message === undefined ? {} : { comment: message }),
      });
      if (checkin === null) throw mergeConflict(preview);
      return checkin;
    });
  }

  async #commit(
    project: Project,
    name: string,
    { parent, isShort, ...request }: WorkRequest & Pick<NewCommit, "parent"> & {
      /** Whether it takes no longer than other writes. */
      readonly isShort: boolean;
    },
    write: (repository: PooledRepository, stamp: Stamp, line: WorkspaceLine) => Promise<string>,
  ): Promise<WrittenCommit> {
    const authorization = this.#authorization;
    await this.#takeLeft(project, name, request);
    const { id } = await authorization.requireActive(project, name, "commit");
    return await this.#repositories.write(project, {
      caller: request.caller,
      user: request.actor.name,
      intention: { kind: this.#committing, body: { workspaceId: id } },
      ...(isShort ? { subject: `workspace ${id}` } : {}),
      write: async (repository, stamp) => {
        const workspace = await authorization.requireActive(project, name, "commit");
        authorization.requireOwner(workspace, request);
        await authorization.fence(project, workspace, request);
        const line = await lineOf(repository, workspace);
        requireTip(line, parent);
        const uuid = await write(repository, stamp, line);
        return { workspace, uuid, parent: line.tip, commitsMade: line.commitsMade + 1 };
      },
    });
  }

  /**
   * Merges the tip of a workspace, and closes the workspace, its branch and its ticket. Either all of
   * this happens, or nothing.
   *
   * @throws Conflict with `conflicts` if the merge has any, with `tip` if the workspace has moved
   * on; Forbidden, NotFound, Invalid, and what gates throw
   */
  async merge(project: Project, name: string, request: MergeRequest): Promise<WrittenMerge> {
    const { extra = null, caller, actor } = request;
    if (request.forOwner !== true) await this.#takeLeft(project, name, request);
    const found = await this.#authorization.requireActive(project, name, "merge");
    const { target, tip, base } = await this.#repositories.read(project, async (repository) => {
      const target = request.target ?? await repository.mainBranch();
      requireTarget(target);
      await requireBranchTip(repository, target);
      return { target, ...await lineOf(repository, found, target) };
    });
    const body = { workspaceId: found.id, tip, target, base, extra };
    return await this.#repositories.write(project, {
      caller,
      user: actor.name,
      intention: { kind: this.#merging, body },
      write: async (repository, stamp) => {
        const workspace = await this.#permitMerge(project, name, request);
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
    return this.merge(project, workspace.name, merge);
  }

  /**
   * The change of the app database for a workspace that reached its target without `merge`. It
   * depends only on the argument and the database, so `settle` of an intention can return it.
   */
  async merged(
    { workspaceId, tip, base, target, checkin, now, ...change }: SettledMerge & {
      readonly workspaceId: string;
    },
  ): Promise<Change> {
    const end = { tip, base, target, checkin };
    const workspace = mergedAs(await this.#store.get(workspaceId), end, now);
    if (workspace === null) return {};
    return await this.#store.changeOf({ ...change, action: "merged", workspace, checkin, now });
  }

  async #permitMerge(project: Project, name: string, request: MergeRequest): Promise<Workspace> {
    const authorization = this.#authorization;
    const workspace = await authorization.requireActive(project, name, "merge");
    if (request.forOwner !== true) authorization.requireOwner(workspace, request);
    await authorization.fence(project, workspace, request);
    return workspace;
  }

  /** The branches of the active workspaces of a project. */
  async activeBranches(project: Project): Promise<string[]> {
    return (await this.#store.allActive(project)).map(branchOf);
  }

  /** See {@link WorkspaceAuthorization.fenceGivingUp}. */
  fenceGivingUp(project: Project, workspace: Workspace, request: WorkRequest): Promise<void> {
    return this.#authorization.fenceGivingUp(project, workspace, request);
  }

  /** See {@link WorkspaceAuthorization.refusals}. */
  pushRefusals(
    project: Project,
    request: WorkRequest,
  ): ReturnType<WorkspaceAuthorization["refusals"]> {
    return this.#authorization.refusals(project, request);
  }

  /**
   * Closes a workspace and its branch. Nothing is erased.
   *
   * @throws NotFound, Forbidden; Conflict if it is closed already, or the lease of its ticket's claim
   * has run out
   */
  async abandon(project: Project, name: string, request: WorkRequest): Promise<Workspace> {
    const authorization = this.#authorization;
    await this.#takeLeft(project, name, request);
    const find = async () => {
      const workspace = await this.#store.require(project, name);
      if (workspace.status !== "active") {
        throw new Conflict(`Workspace is already ${workspace.status}`);
      }
      authorization.requireOwner(workspace, request);
      await authorization.fenceGivingUp(project, workspace, request);
      return workspace;
    };
    const { id } = await find();
    return await this.#close(project, request, { kind: this.#abandoning, id, sign: "+" }, find);
  }

  /**
   * Opens an abandoned workspace again.
   *
   * @throws NotFound, Forbidden; Conflict if it is not abandoned
   */
  async restore(project: Project, name: string, request: WorkRequest): Promise<Workspace> {
    const authorization = this.#authorization;
    const find = async () => {
      const workspace = await this.#store.require(project, name);
      if (workspace.status !== "abandoned") {
        throw new Conflict(`Workspace is ${workspace.status}, cannot restore`);
      }
      authorization.requireOwner(workspace, request);
      await authorization.fence(project, workspace, request);
      await this.#quota.require(project, workspace.owner.key);
      return workspace;
    };
    const { id, owner } = await find();
    const kind = this.#restoring;
    return await this.#quota.give(
      owner.key,
      () => this.#close(project, request, { kind, id, sign: "-" }, find),
    );
  }

  async #close(
    project: Project,
    { caller, actor }: WorkRequest,
    { kind, id, sign }: {
      readonly kind: RegisteredKind<ChangeBody>;
      readonly id: string;
      readonly sign: "+" | "-";
    },
    find: () => Promise<Workspace>,
  ): Promise<Workspace> {
    return await this.#repositories.write(project, {
      caller,
      user: actor.name,
      intention: { kind, body: { workspaceId: id } },
      write: async (repository, stamp) => {
        const workspace = await find();
        const { leaves } = await lineOf(repository, workspace);
        const changes = leaves.map((target) => ({ sign, name: "closed", target }));
        await repository.changeTags({ ...stamp, changes });
        return { ...workspace, status: sign === "+" ? "abandoned" : "active" };
      },
    });
  }

  /**
   * Makes the actor, who holds the claim of its ticket now, the owner of a workspace. An admin can
   * take over a workspace without a ticket; so can anybody if the owner's account is gone, and a
   * session of an agent if the one that owns it has ended.
   *
   * @throws NotFound, Forbidden, Conflict, TooMany
   */
  takeOver(project: Project, name: string, request: WorkRequest): Promise<Workspace> {
    const { database, scheduler } = this.#options;
    const { actor, caller } = request;
    const take = async () => {
      const workspace = await this.#authorization.requireActive(project, name, "take over");
      const generation = await this.#mayTake(project, workspace, request);
      if (workspace.owner.key !== actor.key) await this.#quota.require(project, actor.key);
      const now = scheduler.now();
      const owner = { key: actor.key, name: actor.name };
      const taken = { ...workspace, owner, generation, updatedAt: now };
      await database.commit(
        await this.#store.changeOf({
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
    return this.#quota.give(
      actor.key,
      () => this.#repositories.exclusively(project, caller, take),
    );
  }

  /** Takes over the workspace that an ended session of the actor's agent has left. */
  async #takeLeft(project: Project, name: string, request: WorkRequest): Promise<void> {
    const workspace = await this.#store.active(project, name);
    if (workspace === null || !this.#options.claims.isLeftTo(workspace.owner, request.actor)) {
      return;
    }
    await this.takeOver(project, name, request);
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
      isAdmin || isSameActor(workspace.owner, actor) || this.#authorization.isOrphan(workspace) ||
      this.#options.claims.isLeftTo(workspace.owner, actor)
    ) {
      return workspace.generation;
    }
    throw new Forbidden("Only an admin can take over a workspace without a ticket");
  }

  async #requireFree(project: Project, name: string): Promise<void> {
    if (await this.#store.active(project, name) === null) return;
    throw new Conflict(`Workspace '${name}' already exists`);
  }
}

function requireName(name: string): void {
  if (name === "") throw new Invalid("Workspace name is required");
  if (NAME.test(name)) return;
  throw new Invalid(INVALID_NAME);
}

function registerCreation(store: WorkspaceStore): RegisteredKind<CreationBody> {
  return store.register("created", ({ project, body, artifacts, now }) => {
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
  });
}

/** Bytes of new content in changes. */
function bytesOf(changes: NewCommit["changes"]): number {
  const lengthOf = (change: NewCommit["changes"][number]) =>
    "content" in change ? change.content?.length ?? 0 : 0;
  return changes.reduce((sum, change) => sum + lengthOf(change), 0);
}

function registerCommit(store: WorkspaceStore): RegisteredKind<ChangeBody> {
  return store.register("committed", async ({ body, artifacts, now }) => {
    const workspace = changed(await store.get(body.workspaceId), {}, now);
    if (workspace === null) return null;
    const checkin = checkinOn(artifacts, branchOf(workspace));
    return checkin === undefined ? null : { workspace, checkin: checkin.uuid };
  });
}

function registerMerge(store: WorkspaceStore): RegisteredKind<MergeBody> {
  return store.register("merged", async ({ body, artifacts, now }) => {
    const { workspaceId, tip, target, base, extra } = body;
    const checkin = checkinOn(artifacts, target);
    if (checkin === undefined || !checkin.parents.includes(tip)) return null;
    const end = { tip, base, target, checkin: checkin.uuid };
    const workspace = mergedAs(await store.get(workspaceId), end, now);
    return workspace === null ? null : { workspace, checkin: checkin.uuid, extra };
  });
}

function mergedAs(
  workspace: Workspace | null,
  { tip, base, target, checkin }: Pick<SettledMerge, "tip" | "base" | "target" | "checkin">,
  now: number,
): Workspace | null {
  const end = { status: "merged", tip, base, mergedAs: checkin, targetBranch: target } as const;
  return changed(workspace, end, now);
}

function registerClosing(
  store: WorkspaceStore,
  action: "abandoned" | "restored",
): RegisteredKind<ChangeBody> {
  const [sign, status] = action === "abandoned"
    ? ["+", "abandoned"] as const
    : ["-", "active"] as const;
  return store.register(action, async ({ body, artifacts, now }) => {
    if (!hasClosedTag(artifacts, sign)) return null;
    const workspace = changed(await store.get(body.workspaceId), { status }, now);
    return workspace === null ? null : { workspace, checkin: null };
  });
}

/** Whether the engine refused a commit because it changes nothing. */
function isEmptyCommit(error: unknown): boolean {
  return error instanceof Error && error.message === "The check-in changes nothing";
}
