import { Unavailable } from "../errors.ts";
import { type NodeRecord, type Nodes, notRunning } from "../nodes/mod.ts";
import type { HeldProject, Project } from "./records.ts";

/** After how many seconds to try again while a project changes its node. */
const RETRY_SECONDS = 1;

/** The projects in memory. */
interface Directory {
  get(id: string): HeldProject | null;
  all(): readonly HeldProject[];
}

/** On which nodes the repositories of projects are. On a server that is alone, all are here. */
export class ProjectHomes {
  readonly #nodes: Pick<Nodes, "self" | "all" | "find" | "isRunning">;
  #directory: Directory | null = null;

  constructor(nodes: Pick<Nodes, "self" | "all" | "find" | "isRunning">) {
    this.#nodes = nodes;
  }

  /** Takes the homes of projects from a directory, which is loaded later than this is made. */
  follow(directory: Directory): void {
    this.#directory = directory;
  }

  /** The name of this node; null if it is alone. */
  get self(): string | null {
    return this.#nodes.self;
  }

  /** Whether a project's repository is on this node. That of a project under creation is. */
  isHere({ id }: Pick<Project, "id">): boolean {
    const { self } = this.#nodes;
    if (self === null) return true;
    const held = this.#directory?.get(id) ?? null;
    return held === null || held.project.home === self;
  }

  /**
   * Checks that a project's repository is on this node.
   *
   * @throws Unavailable
   */
  require(project: Pick<Project, "id" | "slug">): void {
    if (this.isHere(project)) return;
    const name = this.#directory?.get(project.id)?.project.home ?? "";
    if (!this.#nodes.isRunning(name)) throw notRunning(name);
    throw new Unavailable(`The project "${project.slug}" is on the node "${name}"; try again`, {
      retryAfterSeconds: RETRY_SECONDS,
    });
  }

  /** The running node that has a project's repository; null if this one does or none runs. */
  elsewhere(project: Pick<Project, "id">): NodeRecord | null {
    if (this.isHere(project)) return null;
    const name = this.#directory?.get(project.id)?.project.home ?? "";
    return this.#nodes.isRunning(name) ? this.#nodes.find(name) : null;
  }

  /** The running node with the fewest projects that takes new ones; null if that is this one. */
  forNew(): NodeRecord | null {
    const { self } = this.#nodes;
    if (self === null) return null;
    const counts = new Map<string, number>();
    for (const { project: { home } } of this.#directory?.all() ?? []) {
      if (home !== null) counts.set(home, (counts.get(home) ?? 0) + 1);
    }
    const countOf = ({ name }: NodeRecord) => counts.get(name) ?? 0;
    const open = this.#nodes.all().filter(({ name, drainedAt }) =>
      drainedAt === null && this.#nodes.isRunning(name)
    ).sort((one, other) => countOf(one) - countOf(other));
    const [first] = open;
    return first === undefined || first.name === self ? null : first;
  }
}
