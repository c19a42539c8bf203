import { basename } from "node:path";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Projects } from "./projects.ts";
import type { ProjectRepositories } from "./repositories.ts";

/** A file that was written is looked at so much later: more writes may follow. In milliseconds. */
const DELAY_MS = 100;

/** The repository and its log, which the `fossil` program writes first. */
const FILE = /^(.+)\.fossil(?:-wal|-journal)?$/;

export interface RepositoryWatchOptions {
  readonly projects: Pick<Projects, "all" | "find" | "get">;
  readonly repositories: ProjectRepositories;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** Notices what other programs write to the repositories of projects. */
export class RepositoryWatch {
  readonly #options: RepositoryWatchOptions;
  readonly #due = new Map<string, () => void>();
  #watcher: Deno.FsWatcher | null = null;
  #watching: Promise<void> = Promise.resolve();
  #catchingUp: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: RepositoryWatchOptions) {
    this.#options = options;
  }

  /**
   * Settles what an earlier process left pending, begins to watch, and looks into every repository
   * once on the side.
   */
  async start(): Promise<void> {
    const { repositories, projects } = this.#options;
    for (const id of repositories.intentions.projects()) {
      const held = projects.get(id);
      if (held !== null) await this.#catchUp(held.project.slug);
    }
    this.#watching = this.#watch();
    this.#catchingUp = this.#catchUpAll();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watcher?.close();
    for (const cancel of this.#due.values()) cancel();
    this.#due.clear();
    await Promise.all([this.#watching, this.#catchingUp]);
  }

  async #catchUpAll(): Promise<void> {
    for (const { project } of this.#options.projects.all()) {
      if (this.#isClosed) return;
      await this.#catchUp(project.slug);
    }
  }

  async #watch(): Promise<void> {
    const { repositories, log, scheduler } = this.#options;
    try {
      this.#watcher = Deno.watchFs(repositories.files.folder, { recursive: false });
    } catch (error) {
      log.warn("Writes of other programs to repositories are not noticed", { error });
      return;
    }
    for await (const { paths } of this.#watcher) {
      for (const path of paths) {
        const [, slug] = FILE.exec(basename(path)) ?? [];
        if (slug === undefined || this.#due.has(slug) || this.#isClosed) continue;
        this.#due.set(
          slug,
          scheduler.after(DELAY_MS, () => {
            this.#due.delete(slug);
            void this.#catchUp(slug);
          }),
        );
      }
    }
  }

  async #catchUp(slug: string): Promise<void> {
    const { projects, repositories, log } = this.#options;
    const held = projects.find(slug);
    if (held === null) return;
    try {
      await repositories.catchUp(held.project);
    } catch (error) {
      log.warn("A repository could not be looked through for new content", { slug, error });
    }
  }
}
