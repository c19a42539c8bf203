import {
  type Change,
  type Database,
  type Statement,
  statement,
} from "../../engines/database/mod.ts";
import { NotFound } from "../../kernel/errors.ts";
import {
  type Project,
  projectEvent,
  type ProjectRepositories,
  type RegisteredKind,
  type SettledWrite,
} from "../projects/mod.ts";
import {
  branchOf,
  type Workspace,
  type WorkspaceChange,
  type WorkspaceListener,
  workspaceOf,
  type WorkspaceStatus,
} from "./records.ts";

/** Most owners of one list. */
const MAX_OWNERS = 10_000;

/** The effect of a settled write on its workspace; null if the artifacts are not its own. */
type Outcome = Pick<WorkspaceChange, "workspace" | "checkin"> & { readonly extra?: unknown };

/**
 * The table of workspaces. A change settles the row, the event and the listeners' parts in one
 * transaction.
 */
export class WorkspaceStore {
  readonly #database: Database;
  readonly #intentions: ProjectRepositories["intentions"];
  readonly #listeners: WorkspaceListener[] = [];

  constructor(database: Database, repositories: Pick<ProjectRepositories, "intentions">) {
    this.#database = database;
    this.#intentions = repositories.intentions;
  }

  /**
   * The active workspace of a name, otherwise the newest one: workspaces may share a name over
   * time.
   *
   * @throws NotFound
   */
  async require(project: Pick<Project, "id">, name: string): Promise<Workspace> {
    const active = await this.active(project, name);
    if (active !== null) return active;
    const { id } = project;
    const row = await this.#rows().where("project_id", "=", id).where("name", "=", name)
      .orderBy("id", "desc").limit(1).executeTakeFirst();
    if (row === undefined) throw new NotFound("Workspace not found");
    return workspaceOf(row);
  }

  /** The workspace of an id, or null. */
  async get(id: string): Promise<Workspace | null> {
    const row = await this.#rows().where("id", "=", id).executeTakeFirst();
    return row === undefined ? null : workspaceOf(row);
  }

  /** The active workspace of a name, or null. */
  async active({ id }: Pick<Project, "id">, name: string): Promise<Workspace | null> {
    const row = await this.#rows().where("project_id", "=", id).where("name", "=", name)
      .where("status", "=", "active").executeTakeFirst();
    return row === undefined ? null : workspaceOf(row);
  }

  /** Every active workspace of a project, the oldest first. */
  async allActive({ id }: Pick<Project, "id">): Promise<readonly Workspace[]> {
    const rows = await this.#rows().where("project_id", "=", id).where("status", "=", "active")
      .orderBy("id").execute();
    return rows.map(workspaceOf);
  }

  /** The active workspaces of an owner in all projects, newest first. */
  async activeOf(ownerKey: string, limit: number): Promise<readonly Workspace[]> {
    const rows = await this.#rows().where("owner_key", "=", ownerKey)
      .where("status", "=", "active")
      .orderBy("id", "desc").limit(limit).execute();
    return rows.map(workspaceOf);
  }

  /** The keys of the owners of active workspaces that changed since a time, in Unix milliseconds. */
  async recentOwners(time: number): Promise<ReadonlySet<string>> {
    const rows = await this.#database.tables.selectFrom("workspaces").select("owner_key").distinct()
      .where("status", "=", "active").where("updated_at", ">=", time).limit(MAX_OWNERS).execute();
    return new Set(rows.map(({ owner_key }) => owner_key));
  }

  /** A page of workspaces, newest first; of one status, unless it is null. */
  async page(
    { id }: Pick<Project, "id">,
    { status, ticket, owner, limit, offset }: {
      readonly status: WorkspaceStatus | null;
      /** The whole id of the ticket; every workspace if absent. */
      readonly ticket?: string | undefined;
      /** The key of their owner; every owner's if absent. */
      readonly owner?: string | undefined;
      readonly limit: number;
      readonly offset: number;
    },
  ): Promise<{ readonly workspaces: readonly Workspace[]; readonly total: number }> {
    const matching = this.#database.tables.selectFrom("workspaces").where("project_id", "=", id)
      .$if(status !== null, (query) => query.where("status", "=", status ?? "active"))
      .$if(ticket !== undefined, (query) => query.where("ticket", "=", ticket ?? null))
      .$if(owner !== undefined, (query) => query.where("owner_key", "=", owner ?? ""));
    const rows = await matching.selectAll().orderBy("id", "desc").limit(limit).offset(offset)
      .execute();
    const counted = await matching.select(({ fn }) => fn.countAll<number>().as("total"))
      .executeTakeFirstOrThrow();
    return { workspaces: rows.map(workspaceOf), total: Number(counted.total) };
  }

  /** The number of active workspaces of a project, and of one owner in it. */
  async counts(
    { id }: Pick<Project, "id">,
    ownerKey: string,
  ): Promise<{ readonly ofProject: number; readonly ofOwner: number }> {
    const count = this.#database.tables.selectFrom("workspaces")
      .select(({ fn }) => fn.countAll<number>().as("total")).where("status", "=", "active");
    const ofProject = await count.where("project_id", "=", id).executeTakeFirstOrThrow();
    const ofOwner = await count.where("owner_key", "=", ownerKey).executeTakeFirstOrThrow();
    return { ofProject: Number(ofProject.total), ofOwner: Number(ofOwner.total) };
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
    return this.#intentions.register<Body>({
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
      action === "created" ? this.#insertion(workspace) : this.#update(workspace),
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

  #insertion(workspace: Workspace): Statement {
    return statement(
      this.#database.tables.insertInto("workspaces").values({
        id: workspace.id,
        project_id: workspace.projectId,
        name: workspace.name,
        description: workspace.description,
        status: workspace.status,
        owner_key: workspace.owner.key,
        owner_name: workspace.owner.name,
        ticket: workspace.ticket,
        generation: workspace.generation,
        started_as: workspace.startedAs,
        base: workspace.base,
        tip: workspace.tip,
        merged_as: workspace.mergedAs,
        target_branch: workspace.targetBranch,
        created_at: workspace.createdAt,
        updated_at: workspace.updatedAt,
      }),
    );
  }

  /** Writes the columns of a workspace that can change. */
  #update(workspace: Workspace): Statement {
    return statement(
      this.#database.tables.updateTable("workspaces").set({
        status: workspace.status,
        owner_key: workspace.owner.key,
        owner_name: workspace.owner.name,
        generation: workspace.generation,
        base: workspace.base,
        tip: workspace.tip,
        merged_as: workspace.mergedAs,
        target_branch: workspace.targetBranch,
        updated_at: workspace.updatedAt,
      }).where("id", "=", workspace.id),
    );
  }

  /** Notes that a workspace changed, at a time in Unix milliseconds. */
  touching({ id }: Pick<Workspace, "id">, now: number): Statement {
    return statement(
      this.#database.tables.updateTable("workspaces").set({ updated_at: now })
        .where("id", "=", id),
    );
  }

  #rows() {
    return this.#database.tables.selectFrom("workspaces").selectAll();
  }
}

/** A workspace after its change. */
export function changed(
  workspace: Workspace | null,
  change: Partial<Workspace>,
  now: number,
): Workspace | null {
  return workspace === null ? null : { ...workspace, ...change, updatedAt: now };
}
