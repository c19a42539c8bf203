import type { Database } from "../database/mod.ts";
import { type EventLog, LastingFollowing, type LoggedEvent } from "../events/mod.ts";
import type { Log } from "../log.ts";
import type { ProjectHomes, Projects } from "../projects/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import { branchOf, type Workspace } from "./records.ts";
import type { Workspaces } from "./workspaces.ts";

/** Most trial merges of one check of a project. */
const MAX_MERGES = 200;

/** Shortest pause between two checks of a project, in milliseconds. */
const PAUSE_MS = 250;

/** The prefix of workspaces' branches. */
const PREFIX = branchOf({ name: "" });

/** Changes of a workspace after which it may overlap others. */
const ACTIONS: readonly unknown[] = ["created", "restored"];

export interface OverlapWatchOptions {
  readonly workspaces: Pick<Workspaces, "overlaps">;
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
    const touched = new Map<string, Set<string>>();
    for (const { type, data } of events) {
      const name = workspaceIn(type, data);
      const id = data["project_id"];
      if (name === null || typeof id !== "string") continue;
      if (!this.#options.homes.isHere({ id })) continue;
      touched.set(id, (touched.get(id) ?? new Set()).add(name));
    }
    for (const [projectId, names] of touched) await this.#look(projectId, names);
    return touched.size === 0 ? null : {};
  }

  async #look(projectId: string, names: ReadonlySet<string>): Promise<void> {
    const { projects, workspaces, scheduler } = this.#options;
    const project = projects.get(projectId)?.project ?? null;
    if (project === null || this.#isClosed) return;
    await this.#pause(projectId);
    const isTouched = ({ name }: Workspace) => names.has(name);
    while (!this.#isClosed) {
      const { isComplete } = await workspaces.overlaps.of(project, isTouched, MAX_MERGES);
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

/** The workspace that an event may bring into an overlap, or null. */
function workspaceIn(type: string, data: LoggedEvent["data"]): string | null {
  const { branch, name, action } = data;
  if (type === "project.checkin") {
    const isIn = typeof branch === "string" && branch.startsWith(PREFIX);
    return isIn ? branch.slice(PREFIX.length) : null;
  }
  return typeof name === "string" && ACTIONS.includes(action) ? name : null;
}
