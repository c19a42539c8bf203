import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import type { ProjectHomes } from "./homes.ts";
import type { Intentions } from "./intentions.ts";
import type { ReceivedPlaces } from "./received_places.ts";
import type { Project } from "./records.ts";
import type { RepositoryFiles } from "./repository_files.ts";

/** Pause before another attempt to take over a project, in milliseconds. */
const RETRY_MS = 5000;

export interface TakeoversOptions {
  readonly files: RepositoryFiles;
  readonly intentions: Intentions;
  readonly places: ReceivedPlaces;
  readonly homes: ProjectHomes;
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** Runs a task while nothing is written to a project's repository. */
  alone(project: Project, task: () => Promise<void>): Promise<void>;
  /** Settles unfinished writes, and appends the events of what other programs wrote. */
  catchUp(project: Project): Promise<void>;
}

/** Takes over repositories that come to this node, and lets go of those that leave. */
export class Takeovers {
  readonly #options: TakeoversOptions;

  constructor(options: TakeoversOptions) {
    this.#options = options;
    options.homes.onChanged((project, isHere) => void this.#turn(project, isHere));
  }

  /** Sets aside the files of projects that went to other nodes while this one was away. */
  async leaveOthers(projects: Iterable<{ readonly project: Project }>): Promise<void> {
    const { homes } = this.#options;
    if (homes.self === null) return;
    for (const { project } of projects) if (!homes.isHere(project)) await this.#leave(project);
  }

  /** Takes over a repository that came to this node, or closes one that left. */
  async #turn(project: Project, isHere: boolean): Promise<void> {
    const { files, intentions, places, homes, scheduler, log, alone, catchUp } = this.#options;
    try {
      await alone(project, async () => {
        await files.forget(project);
        if (!isHere) {
          places.forget(project);
          return await this.#leave(project);
        }
        await intentions.reload(project.id);
        await places.reload(project);
        homes.settle(project);
      });
      if (isHere) await catchUp(project);
    } catch (error) {
      if (!isHere || !homes.isHere(project)) return;
      log.error("A project cannot be taken over yet", { slug: project.slug, error });
      scheduler.after(RETRY_MS, () => void this.#turn(project, true));
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
