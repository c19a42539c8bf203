import { BoundedMap } from "../kernel/bounded_map.ts";
import type { Project, ProjectRepositories } from "../projects/mod.ts";
import type { WorkspaceLine } from "./records.ts";

/** The files that a workspace changes. */
export interface Changed {
  /** How many files. */
  readonly files: number;
  /** Their paths, including the old paths of renamed files. */
  readonly paths: readonly string[];
}

/** Paths kept in memory, for all projects together. */
const MAX_KEPT = 200_000;

/**
 * The paths that differ between two check-ins. Check-ins never change, so results are kept; the
 * least recently used are dropped first.
 */
export class ChangedPaths {
  readonly #repositories: Pick<ProjectRepositories, "read">;
  readonly #kept = new BoundedMap<string, Changed>({
    most: MAX_KEPT,
    weigh: ({ paths }) => paths.length + 1,
  });

  constructor(repositories: Pick<ProjectRepositories, "read">) {
    this.#repositories = repositories;
  }

  async of(
    project: Project,
    { base, tip }: Pick<WorkspaceLine, "base" | "tip">,
  ): Promise<Changed> {
    const key = `${project.id} ${base} ${tip}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const { files } = await this.#repositories.read(
      project,
      (repository) => repository.diff({ from: base, to: tip, maxBytes: 0 }),
    );
    const paths = files.flatMap(({ name, prev_name }) =>
      prev_name === null ? [name] : [name, prev_name]
    );
    const changed = { files: files.length, paths };
    this.#kept.set(key, changed);
    return changed;
  }
}
