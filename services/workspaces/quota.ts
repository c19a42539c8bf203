import { slotFull, type Slots } from "../agents/mod.ts";
import { TooMany, Unavailable } from "../errors.ts";
import { Semaphore } from "../kernel/semaphore.ts";
import type { Project } from "../projects/mod.ts";
import type { WorkspaceStore } from "./store.ts";

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
