import type { PooledRepository } from "../../engines/fossil/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import { stateOfFileNow } from "./file_states.ts";
import type { Project } from "./records.ts";
import type { RepositoryFiles } from "./repository_files.ts";

/** Most projects of which a value is remembered. */
const MAX_KEPT = 1000;

/** Remembers one small value of each repository until any program changes the repository's file. */
export class KeptReads<Value> {
  readonly #files: RepositoryFiles;
  readonly #read: (repository: PooledRepository) => Promise<Value>;
  /** By the project's id. */
  readonly #known = new BoundedMap<string, { readonly state: string; readonly value: Value }>(
    MAX_KEPT,
  );

  constructor(files: RepositoryFiles, read: (repository: PooledRepository) => Promise<Value>) {
    this.#files = files;
    this.#read = read;
  }

  /**
   * The value of a project, never older than the call.
   *
   * @throws ServiceError in place of the engine's errors
   */
  async of(project: Project): Promise<Value> {
    const state = stateOfFileNow(this.#files.pathOf(project));
    const known = this.#known.get(project.id);
    if (known !== undefined && known.state === state) return known.value;
    const value = await this.#files.use(project, this.#read);
    if (state !== null) this.#known.set(project.id, { state, value });
    return value;
  }
}
