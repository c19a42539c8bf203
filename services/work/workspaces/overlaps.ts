/** Workspaces that change the same files: who overlaps with whom, and the watch that looks for it. */
import type { Selectable } from "kysely";
import {
  type Database,
  type Statement,
  statement,
  type Tables,
} from "../../engines/database/mod.ts";
import {
  type EventLog,
  type EventTypes,
  LastingFollowing,
  type LoggedEvent,
  SYSTEM,
} from "../../engines/events/mod.ts";
import { addTo, TextMap, TextSet } from "../../engines/fossil/front/mod.ts";
import type { Diff } from "../../engines/fossil/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import type { Log } from "../../kernel/log.ts";
import { inPieces } from "../../kernel/pieces.ts";
import {
  type Project,
  projectEvent,
  type ProjectHomes,
  type ProjectRepositories,
  type Projects,
} from "../projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { linesOf } from "./lines.ts";
import { branchOf, type Workspace, type WorkspaceLine } from "./records.ts";
import type { WorkspaceStore } from "./store.ts";

/** The files that a workspace changes. */
export interface Changed {
  /** How many files. */
  readonly files: number;
  /** Their paths, including the old paths of renamed files. */
  readonly paths: readonly string[];
}

/** Paths kept in memory, for all projects together. */
const MAX_KEPT = 200_000;

/**
 * The paths that differ between two check-ins. Check-ins never change, so results are kept; the
 * least recently used are dropped first.
 */
export class ChangedPaths {
  readonly #repositories: Pick<ProjectRepositories, "read">;
  readonly #kept = new BoundedMap<string, Changed>({
    most: MAX_KEPT,
    weigh: ({ paths }) => paths.length + 1,
  });

  constructor(repositories: Pick<ProjectRepositories, "read">) {
    this.#repositories = repositories;
  }

  async of(
    project: Project,
    { base, tip }: Pick<WorkspaceLine, "base" | "tip">,
  ): Promise<Changed> {
    const key = `${project.id} ${base} ${tip}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const { files } = await this.#repositories.read(
      project,
      (repository) => repository.diff({ from: base, to: tip, maxBytes: 0 }),
    );
    const changed = { files: files.length, paths: pathsOf(files) };
    this.#kept.set(key, changed);
    return changed;
  }
}

/** The paths of changed files, with the old ones of those that were renamed. */
export function pathsOf(files: Diff["files"]): readonly string[] {
  return files.flatMap(({ name, prev_name }) => prev_name === null ? [name] : [name, prev_name]);
}

/** Most trial merges for one request. */
const MAX_MERGES = 50;

/** Most paths and conflicts kept for two workspaces. */
const MAX_PATHS = 100;

export interface OverlapsOptions {
  readonly database: Database;
  readonly repositories: Pick<ProjectRepositories, "read">;
  readonly paths: ChangedPaths;
  readonly store: WorkspaceStore;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** A path on which a trial merge failed, and why. */
export interface OverlapConflict {
  readonly path: string;
  readonly kind: string;
}

/** Another active workspace that changes the same files. */
export interface Overlap {
  readonly workspace: Workspace;
  /** The files that both change; at most 100. */
  readonly paths: readonly string[];
  /** Empty if the two merge cleanly; null before a trial merge. */
  readonly conflicts: readonly OverlapConflict[] | null;
}

/** An active workspace at its current tip. */
interface Standing {
  readonly workspace: Workspace;
  readonly line: WorkspaceLine;
}

/** Two workspaces that change the same files; `one` has the lower id. */
interface Pair {
  readonly one: Standing;
  readonly other: Standing;
  readonly paths: readonly string[];
}

type Known = ReadonlyMap<string, Selectable<Tables["workspace_overlaps"]>>;

/**
 * Finds active workspaces that change the same files, and whether a trial merge of each pair
 * conflicts. The results are kept by both tips. When a pair begins to conflict, that is one event.
 */
export class Overlaps {
  readonly #options: OverlapsOptions;
  /** Trial merges under way, by the ids of the workspaces. */
  readonly #merging = new Map<string, Promise<readonly OverlapConflict[]>>();

  constructor(options: OverlapsOptions) {
    this.#options = options;
  }

  /**
   * The overlaps of workspaces with the other active ones of the project. Makes missing trial
   * merges, within the budget.
   *
   * @param isAsked whether to include an active workspace
   * @returns the overlaps by the workspace's id, and whether the budget sufficed
   */
  async of(
    project: Project,
    isAsked: (workspace: Workspace) => boolean,
    budget = MAX_MERGES,
  ): Promise<{
    readonly overlaps: ReadonlyMap<string, readonly Overlap[]>;
    readonly isComplete: boolean;
  }> {
    const overlaps = new Map<string, Overlap[]>();
    const active = await this.#options.store.allActive(project);
    const ids = new Set(active.filter(isAsked).map(({ id }) => id));
    if (active.length < 2 || ids.size === 0) return { overlaps, isComplete: true };
    const pairs = await this.#pairs(project, active, ids);
    const known = await this.#known(project, pairs);
    let left = budget;
    for (const pair of pairs) {
      const { one, other, paths } = pair;
      let conflicts = conflictsIn(known, pair);
      if (conflicts === null && left-- > 0) conflicts = await this.#conflictsOf(project, pair);
      for (const [mine, its] of [[one, other], [other, one]] as const) {
        if (!ids.has(mine.workspace.id)) continue;
        const listed = overlaps.get(mine.workspace.id) ?? [];
        overlaps.set(mine.workspace.id, listed);
        listed.push({ workspace: its.workspace, paths: paths.slice(0, MAX_PATHS), conflicts });
      }
    }
    return { overlaps, isComplete: left >= 0 };
  }

  /** The active workspaces whose tip is a check-in. */
  async atTip(project: Project, checkin: string): Promise<readonly Workspace[]> {
    const active = await this.#options.store.allActive(project);
    if (active.length === 0) return [];
    const lines = await this.#options.repositories.read(
      project,
      (repository) => linesOf(repository, active),
    );
    return active.filter((_, index) => lines[index]?.tip === checkin);
  }

  /** Forgets a workspace that cannot become active again. */
  forgetting({ id }: Pick<Workspace, "id">): Statement[] {
    return (["one_id", "other_id"] as const).map((column) =>
      statement(
        this.#options.database.tables.deleteFrom("workspace_overlaps").where(column, "=", id),
      )
    );
  }

  /** Every pair of active workspaces that change the same files, if one of them is asked for. */
  async #pairs(
    project: Project,
    active: readonly Workspace[],
    ids: ReadonlySet<string>,
  ): Promise<readonly Pair[]> {
    const { repositories, paths } = this.#options;
    const lines = await repositories.read(
      project,
      (repository) => linesOf(repository, active),
    );
    const touching = new TextMap<Standing[]>();
    const shared = new Map<string, { one: Standing; other: Standing; paths: string[] }>();
    for (const [index, workspace] of active.entries()) {
      const line = lines[index];
      if (line === undefined || line.tip === line.base) continue;
      const standing = { workspace, line };
      const changed = await paths.of(project, line);
      await inPieces([...new TextSet(changed.paths)], (path) => {
        for (const one of touching.get(path) ?? []) {
          if (!ids.has(workspace.id) && !ids.has(one.workspace.id)) continue;
          const key = keyOf(one.workspace.id, workspace.id);
          const pair = shared.get(key);
          if (pair === undefined) shared.set(key, { one, other: standing, paths: [path] });
          else pair.paths.push(path);
        }
        addTo(touching, path, standing);
      });
    }
    return [...shared.values()].map((pair) => ({ ...pair, paths: pair.paths.toSorted() }));
  }

  async #known(project: Project, pairs: readonly Pair[]): Promise<Known> {
    if (pairs.length === 0) return new Map();
    const rows = await this.#options.database.tables.selectFrom("workspace_overlaps").selectAll()
      .where("project_id", "=", project.id).execute();
    return new Map(rows.map((row) => [keyOf(row.one_id, row.other_id), row]));
  }

  /** The trial merge of a pair. Two callers share one; merges at other tips wait for each other. */
  async #conflictsOf(project: Project, pair: Pair): Promise<readonly OverlapConflict[]> {
    const key = keyOf(pair.one.workspace.id, pair.other.workspace.id);
    const merging = (this.#merging.get(key) ?? Promise.resolve([])).catch(() => [])
      .then(() => this.#merge(project, pair));
    this.#merging.set(key, merging);
    try {
      return await merging;
    } finally {
      if (this.#merging.get(key) === merging) this.#merging.delete(key);
    }
  }

  async #merge(project: Project, pair: Pair): Promise<readonly OverlapConflict[]> {
    const { database, repositories, clock } = this.#options;
    const { one, other } = pair;
    const row = await database.tables.selectFrom("workspace_overlaps").selectAll()
      .where("one_id", "=", one.workspace.id).where("other_id", "=", other.workspace.id)
      .executeTakeFirst();
    const known = row === undefined ? null : conflictsOfRow(row, pair);
    if (known !== null) return known;
    const preview = await repositories.read(
      project,
      (repository) => repository.previewMerge({ ours: one.line.tip, theirs: other.line.tip }),
    );
    const conflicts = preview.conflicts.slice(0, MAX_PATHS)
      .map(({ path, kind }): OverlapConflict => ({ path, kind }));
    const now = clock();
    const notifiedAt = row?.notified_at ?? null;
    const begins = conflicts.length > 0 && notifiedAt === null;
    const paths = pair.paths.slice(0, MAX_PATHS);
    const found = {
      one_tip: one.line.tip,
      other_tip: other.line.tip,
      paths: JSON.stringify(paths),
      conflicts: JSON.stringify(conflicts),
      notified_at: begins ? now : notifiedAt,
    };
    const insertion = database.tables.insertInto("workspace_overlaps").values({
      project_id: project.id,
      one_id: one.workspace.id,
      other_id: other.workspace.id,
      ...found,
    }).onConflict((conflict) => conflict.columns(["one_id", "other_id"]).doUpdateSet(found));
    const event = projectEvent(project, "project.overlap", {
      workspaces: [one, other].map(({ workspace: { name, owner } }) => ({
        name,
        agent_id: owner.name,
      })),
      paths,
      conflicts,
    }, { origin: SYSTEM, time: now });
    await database.commit({ statements: [statement(insertion)], events: begins ? [event] : [] });
    return conflicts;
  }
}

/** The key of a pair, whose ids are in ascending order. */
function keyOf(one: string, other: string): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}

function conflictsIn(known: Known, pair: Pair): readonly OverlapConflict[] | null {
  const row = known.get(keyOf(pair.one.workspace.id, pair.other.workspace.id));
  return row === undefined ? null : conflictsOfRow(row, pair);
}

/** The conflicts in a row for a pair; null if the row is about other tips. */
function conflictsOfRow(
  row: Selectable<Tables["workspace_overlaps"]>,
  { one, other }: Pair,
): readonly OverlapConflict[] | null {
  if (row.one_tip !== one.line.tip || row.other_tip !== other.line.tip) return null;
  return JSON.parse(row.conflicts);
}

/** Most trial merges of one check of a project. */
const MAX_MERGES_OF_WATCH = 200;

/** Shortest pause between two checks of a project, in milliseconds. */
const PAUSE_MS = 250;

/** The prefix of workspaces' branches. */
const PREFIX = branchOf({ name: "" });

/** Changes of a workspace after which it may overlap others. */
const ACTIONS: readonly unknown[] = ["created", "restored"];

export interface OverlapWatchOptions {
  readonly workspaces: { readonly overlaps: Overlaps };
  readonly projects: Pick<Projects, "get">;
  readonly homes: ProjectHomes;
  readonly database: Database;
  readonly eventLog: EventLog;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Looks for overlaps after each check-in in a workspace, whichever program wrote it. It follows the
 * event log, also across restarts. It checks one project at a time, and no project more often than
 * {@link PAUSE_MS} allows.
 */
export class OverlapWatch {
  readonly #options: OverlapWatchOptions;
  readonly #following: LastingFollowing;
  /** When the last check of a project ended, in Unix milliseconds. */
  readonly #lookedAt = new Map<string, number>();
  #cancelPause: () => void = () => {};
  #endPause: () => void = () => {};
  #isClosed = false;

  constructor(options: OverlapWatchOptions) {
    this.#options = options;
    this.#following = new LastingFollowing({
      ...options,
      name: options.homes.nameOf("overlaps"),
      types: ["project.checkin", "project.workspace"],
      take: (events) => this.#take(events),
    });
  }

  /** Continues where the previous process ended. */
  start(): Promise<void> {
    return this.#following.start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelPause();
    this.#endPause();
    await this.#following.close();
  }

  /** Resolves when all events so far are handled; for tests. */
  idle(): Promise<void> {
    return this.#following.idle();
  }

  async #take(events: readonly LoggedEvent[]) {
    const touched = new Map<string, TextSet>();
    for (const { type, data } of events) {
      const names = workspacesIn(type, data);
      const id = data["project_id"];
      if (names.length === 0 || typeof id !== "string") continue;
      if (!this.#options.homes.isHere({ id })) continue;
      const all = touched.get(id) ?? new TextSet();
      for (const name of names) all.add(name);
      touched.set(id, all);
    }
    for (const [projectId, names] of touched) await this.#look(projectId, names);
    return touched.size === 0 ? null : {};
  }

  async #look(projectId: string, names: TextSet): Promise<void> {
    const { projects, workspaces, scheduler } = this.#options;
    const project = projects.get(projectId)?.project ?? null;
    if (project === null || this.#isClosed) return;
    await this.#pause(projectId);
    const isTouched = ({ name }: Workspace) => names.has(name);
    while (!this.#isClosed) {
      const { isComplete } = await workspaces.overlaps.of(project, isTouched, MAX_MERGES_OF_WATCH);
      this.#lookedAt.set(projectId, scheduler.now());
      if (isComplete) break;
      await this.#pause(projectId);
    }
  }

  /** Waits until the last check of a project is long enough ago. */
  async #pause(projectId: string): Promise<void> {
    const { scheduler } = this.#options;
    for (const [id, at] of this.#lookedAt) {
      if (scheduler.now() - at >= PAUSE_MS) this.#lookedAt.delete(id);
    }
    const at = this.#lookedAt.get(projectId);
    if (at === undefined || this.#isClosed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#endPause = resolve;
    this.#cancelPause = scheduler.after(at + PAUSE_MS - scheduler.now(), resolve);
    await promise;
  }
}

/** The workspaces that an event may bring into an overlap. */
function workspacesIn(type: string, data: LoggedEvent["data"]): readonly string[] {
  const { name, action } = data;
  if (type !== "project.checkin") {
    return typeof name === "string" && ACTIONS.includes(action) ? [name] : [];
  }
  const { branch, push } = data as unknown as EventTypes["project.checkin"];
  return (push?.branches ?? [branch]).filter((one) => one.startsWith(PREFIX))
    .map((one) => one.slice(PREFIX.length));
}
