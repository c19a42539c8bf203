import type { Log } from "../../kernel/log.ts";
import { NotFound, Unavailable } from "../../kernel/errors.ts";
import { searchIndexPath } from "../../engines/fossil/front/mod.ts";
import type { Project } from "./records.ts";
import type { RepositoryFiles } from "./repository_files.ts";

/** Builds and updates search indexes in the background, one after the other. */
export class SearchIndexes {
  readonly #files: RepositoryFiles;
  readonly #log: Log;
  /** Projects whose update runs or waits, by id. */
  readonly #waiting = new Set<string>();
  #last: Promise<void> = Promise.resolve();

  constructor(options: { readonly files: RepositoryFiles; readonly log: Log }) {
    this.#files = options.files;
    this.#log = options.log;
  }

  /** Updates the index of a project in the background, unless that is due already. */
  update(project: Pick<Project, "id" | "slug">): void {
    if (this.#waiting.has(project.id)) return;
    this.#waiting.add(project.id);
    this.#last = this.#last.then(() => this.#update(project));
  }

  /** Builds the index of a project in the background if there is none. */
  async buildIfMissing(project: Pick<Project, "id" | "slug">): Promise<void> {
    const path = searchIndexPath(this.#files.pathOf(project));
    const isMissing = await Deno.stat(path).then(() => false, () => true);
    if (isMissing) this.update(project);
  }

  async #update(project: Pick<Project, "id" | "slug">): Promise<void> {
    try {
      await this.#files.use(project, (repository) => repository.updateIndex());
    } catch (error) {
      // The next search updates the index.
      if (error instanceof NotFound || error instanceof Unavailable) return;
      this.#log.warn("A search index cannot be updated", { slug: project.slug, error });
    } finally {
      this.#waiting.delete(project.id);
    }
  }
}
