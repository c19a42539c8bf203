import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { ProjectHomes } from "./homes.ts";
import type { Intentions } from "./intentions.ts";
import type { ReceivedPlaces } from "./received_places.ts";
import type { Project } from "./records.ts";
import type { RepositoryFiles } from "./repository_files.ts";

/** Pause before another attempt to take over a project, in milliseconds. */
const RETRY_MS = 5000;

export interface TakeoversOptions {
  readonly files: Pick<RepositoryFiles, "forget" | "setAside">;
  readonly intentions: Pick<Intentions, "reload">;
  readonly places: Pick<ReceivedPlaces, "forget" | "reload">;
  readonly homes: Pick<ProjectHomes, "self" | "isHere" | "settle" | "onChanged">;
  readonly scheduler: Pick<Scheduler, "after">;
  readonly log: Log;
  /** Nothing is written to a project's repository until what this returns is disposed. */
  alone(project: Project): Promise<Disposable>;
  /** Settles unfinished writes, and appends the events of what other programs wrote. */
  catchUp(project: Project): Promise<void>;
}

/** Takes over repositories that come to this node, and lets go of those that leave. */
export class Takeovers {
  readonly #options: TakeoversOptions;
  readonly #turns = new Set<Promise<void>>();
  /** Each calls off another attempt. */
  readonly #cancelRetries = new Set<() => void>();
  #isClosed = false;

  constructor(options: TakeoversOptions) {
    this.#options = options;
    options.homes.onChanged((project, isHere) => this.#begin(project, isHere));
  }

  /** Sets aside the files of projects that went to other nodes while this one was away. */
  async leaveOthers(projects: Iterable<{ readonly project: Project }>): Promise<void> {
    const { homes } = this.#options;
    if (homes.self === null) return;
    for (const { project } of projects) if (!homes.isHere(project)) await this.#leave(project);
  }

  /** Begins nothing more, and waits for what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of this.#cancelRetries) cancel();
    await Promise.all(this.#turns);
  }

  #begin(project: Project, isHere: boolean): void {
    if (this.#isClosed) return;
    const turn = this.#turn(project, isHere).finally(() => this.#turns.delete(turn));
    this.#turns.add(turn);
  }

  /** Takes over a repository that came to this node, or closes one that left. */
  async #turn(project: Project, isHere: boolean): Promise<void> {
    const { files, intentions, places, homes, scheduler, log, alone, catchUp } = this.#options;
    try {
      {
        using _turn = await alone(project);
        await files.forget(project);
        if (!isHere) {
          places.forget(project);
          return await this.#leave(project);
        }
        await intentions.reload(project.id);
        await places.reload(project);
        homes.settle(project);
      }
      await catchUp(project);
    } catch (error) {
      if (!isHere || !homes.isHere(project)) return;
      log.error("A project cannot be taken over yet", { slug: project.slug, error });
      if (this.#isClosed) return;
      const cancel = scheduler.after(RETRY_MS, () => {
        this.#cancelRetries.delete(cancel);
        this.#begin(project, true);
      });
      this.#cancelRetries.add(cancel);
    }
  }

  /** Sets a file aside whose project was given to another node while this one was away. */
  async #leave(project: Project): Promise<void> {
    const file = await this.#options.files.setAside(project, "removed");
    if (file === null) return;
    const { slug } = project;
    this.#options.log.warn("The project is on another node; the copy here was set aside", {
      slug,
      file,
    });
  }
}
