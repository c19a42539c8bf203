import { type Database, Unchanged } from "../../engines/database/mod.ts";
import { Conflict, Invalid } from "../../kernel/errors.ts";
import { type Caller, originOf } from "../../people/identity/mod.ts";
import type { Nodes } from "../nodes/mod.ts";
import {
  type HeldProject,
  isSameProject,
  type ProjectRepositories,
  type Projects,
  type Upload,
} from "../../work/projects/mod.ts";

export interface ProjectRestoresOptions {
  readonly database: Database;
  readonly projects: Pick<Projects, "require" | "moving">;
  readonly repositories: ProjectRepositories;
  readonly nodes: Pick<Nodes, "self" | "isRunning">;
}

/** Puts backups of repositories on this node whose own node does not run. */
export class ProjectRestores {
  readonly #options: ProjectRestoresOptions;

  constructor(options: ProjectRestoresOptions) {
    this.#options = options;
  }

  /**
   * Checks whether a project can be restored on this node, before its client sends a long file in
   * vain.
   *
   * @returns the node that has it
   * @throws NotFound; Conflict if that node runs, or this server is alone
   */
  requireLost(slug: string): string {
    const { projects, nodes: { self }, nodes } = this.#options;
    const { home } = projects.require(slug).project;
    if (self === null || home === null) {
      throw new Conflict("This server has no other nodes: use muster project import");
    }
    if (!nodes.isRunning(home)) return home;
    throw new Conflict(
      `The node "${home}" has the project "${slug}" and runs: use muster project move`,
    );
  }

  /**
   * Makes a repository file the repository of a project whose node does not run, and this node its
   * home.
   *
   * @throws NotFound, Conflict like {@link requireLost}; Invalid if the file is no whole repository, or that of
   * another project
   */
  async restore(slug: string, upload: Upload, caller: Caller): Promise<HeldProject> {
    const { database, projects, repositories, nodes } = this.#options;
    if (upload.format !== "fossil") throw new Invalid("The file is no repository of Fossil");
    const place = await repositories.files.verify(upload.path);
    const from = this.requireLost(slug);
    const { project } = projects.require(slug);
    const known = await repositories.places.read(project);
    if (!isSameProject(known, place)) {
      throw new Invalid(`The file is the repository of another project than "${slug}"`);
    }
    await repositories.files.place(project, upload.path);
    const homes = { from, to: nodes.self ?? "" };
    try {
      await database.commit(projects.moving(project, homes, originOf(caller), place));
    } catch (error) {
      if (!(error instanceof Unchanged)) throw error;
      throw new Conflict(`The project "${slug}" is on "${from}" no more`);
    }
    return projects.require(slug);
  }
}
