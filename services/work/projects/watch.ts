import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { nextTurn } from "../../kernel/pieces.ts";
import { stateOfFileNow } from "./file_states.ts";
import type { Project } from "./records.ts";
import type { Projects } from "./projects.ts";
import type { ProjectRepositories } from "./repositories.ts";

/** Shortest pause between two rounds of checks, in milliseconds. */
const PAUSE_MS = 1000;
/**
 * The pause after a round, as a multiple of the round's duration: many projects are checked less
 * often.
 */
const PAUSE_FACTOR = 20;
/** How long files are checked before other tasks have their turn, in milliseconds. */
const PIECE_MS = 1;

export interface RepositoryWatchOptions {
  readonly projects: Pick<Projects, "all" | "get">;
  readonly repositories: ProjectRepositories;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Notices what other programs write to the repositories of projects, by the times and sizes of the
 * files. It must not open them, as `Deno.watchFs` does on each event: when a process closes a file,
 * POSIX drops all locks that the process holds on it, SQLite's among them.
 */
export class RepositoryWatch {
  readonly #options: RepositoryWatchOptions;
  /** The state of each file before its repository was last checked, by the project's id. */
  readonly #seen = new Map<string, string>();
  /** Projects whose repository could not be checked, by id: each round tries again. */
  readonly #failing = new Set<string>();
  #cancel: () => void = () => {};
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: RepositoryWatchOptions) {
    this.#options = options;
  }

  /**
   * Settles the writes that an earlier process left unfinished, and begins to watch. The first
   * round runs in the background and checks every repository.
   */
  async start(): Promise<void> {
    const { repositories, projects } = this.#options;
    for (const id of repositories.intentions.projects()) {
      const held = projects.get(id);
      if (held !== null && repositories.homes.isHere(held.project)) {
        await this.#catchUp(held.project);
      }
    }
    this.#watch();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.#round;
  }

  #watch(): void {
    const began = performance.now();
    const { log } = this.#options;
    this.#round = this.#lookAtAll().catch((error) => {
      log.error("The repositories could not be checked for new artifacts", { error });
    }).then(() => {
      if (this.#isClosed) return;
      const pause = Math.max(PAUSE_MS, (performance.now() - began) * PAUSE_FACTOR);
      this.#cancel = this.#options.scheduler.after(pause, () => this.#watch());
    });
  }

  async #lookAtAll(): Promise<void> {
    const { projects, repositories: { files, homes, indexes } } = this.#options;
    let end = performance.now() + PIECE_MS;
    for (const { project } of projects.all()) {
      if (performance.now() >= end) {
        await nextTurn();
        end = performance.now() + PIECE_MS;
      }
      if (this.#isClosed) return;
      if (!homes.isHere(project)) {
        this.#seen.delete(project.id);
        continue;
      }
      const state = stateOfFileNow(files.pathOf(project));
      const isSeen = state !== null && state === this.#seen.get(project.id);
      if (isSeen && !this.#failing.has(project.id)) continue;
      if (!this.#seen.has(project.id)) await indexes.buildIfMissing(project);
      if (state !== null) this.#seen.set(project.id, state);
      await this.#catchUp(project);
    }
    for (const id of this.#seen.keys()) if (projects.get(id) === null) this.#seen.delete(id);
  }

  async #catchUp(project: Project): Promise<void> {
    const { repositories, log } = this.#options;
    try {
      await repositories.catchUp(project);
      this.#failing.delete(project.id);
    } catch (error) {
      if (this.#failing.has(project.id) || this.#isClosed) return;
      this.#failing.add(project.id);
      const { slug } = project;
      log.warn("A repository could not be checked for new artifacts", { slug, error });
    }
  }
}
