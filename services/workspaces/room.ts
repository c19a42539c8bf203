import { TooMany } from "../errors.ts";
import { Locks, type Project } from "../projects/mod.ts";
import type { WorkspaceStore } from "./store.ts";

/** Bounds the active workspaces of one owner, in all projects together, and of one project. */
export class WorkspaceRoom {
  readonly #store: WorkspaceStore;
  readonly #limits: { readonly perAgent: number; readonly perProject: number };
  readonly #locks = new Locks();

  constructor(
    store: WorkspaceStore,
    limits: { readonly perAgent: number; readonly perProject: number },
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
  give<T>(ownerKey: string, task: () => Promise<T>): Promise<T> {
    return this.#locks.run(ownerKey, task);
  }

  /** @throws TooMany if the owner or the project has no room for one more */
  async require(project: Project, ownerKey: string): Promise<void> {
    const { perAgent, perProject } = this.#limits;
    const { ofProject, ofOwner } = await this.#store.counts(project, ownerKey);
    if (ofOwner >= perAgent) {
      throw new TooMany(
        `An agent has at most ${perAgent} active workspaces: merge or abandon some`,
      );
    }
    if (ofProject >= perProject) {
      throw new TooMany(`A project has at most ${perProject} active workspaces`);
    }
  }
}
