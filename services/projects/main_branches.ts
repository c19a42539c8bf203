import { stateOfFileNow } from "./file_states.ts";
import type { Project } from "./records.ts";
import type { RepositoryFiles } from "./repository_files.ts";

/** Most projects whose main branch is remembered. */
const MAX_KEPT = 1000;

/** Remembers the main branch of each repository until any program changes the repository's file. */
export class MainBranches {
  readonly #files: RepositoryFiles;
  /** By the project's id. */
  readonly #known = new Map<string, { readonly state: string; readonly name: string }>();

  constructor(files: RepositoryFiles) {
    this.#files = files;
  }

  /**
   * The name of a project's main branch.
   *
   * @throws ServiceError in place of the engine's errors
   */
  async of(project: Project): Promise<string> {
    const state = stateOfFileNow(this.#files.pathOf(project));
    const known = this.#known.get(project.id);
    if (known !== undefined && known.state === state) return known.name;
    const name = await this.#files.use(project, (repository) => repository.mainBranch());
    if (this.#known.size >= MAX_KEPT) this.#known.clear();
    if (state !== null) this.#known.set(project.id, { state, name });
    return name;
  }
}
