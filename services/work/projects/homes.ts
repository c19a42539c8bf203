import { NotFound, Unavailable } from "../../kernel/errors.ts";
import { nobodyRuns, type NodeDirectory, type NodeRecord, notRunning } from "../../kernel/nodes.ts";
import type { HeldProject, Project } from "./records.ts";

/** After how many seconds to try again while a project changes its node. */
const RETRY_SECONDS = 1;

/** The projects in memory. */
interface Directory {
  get(id: string): HeldProject | null;
  all(): readonly HeldProject[];
  onChanged(listener: (id: string, held: HeldProject | null) => void): void;
}

/** Is told of a project whose repository comes to this node, or leaves it. Must not throw. */
export type HomeListener = (project: Project, isHere: boolean) => void;

/** On which nodes the repositories of projects are. On a server that is alone, all are here. */
export class ProjectHomes {
  readonly #nodes: NodeDirectory;
  readonly #listeners: HomeListener[] = [];
  /** The ids of the projects that are here. */
  readonly #here = new Set<string>();
  /** Those of them that are not taken over yet. */
  readonly #arriving = new Set<string>();
  #directory: Directory | null = null;

  constructor(nodes: NodeDirectory) {
    this.#nodes = nodes;
  }

  /** Takes the homes of projects from a directory that is loaded. Those that it has are no arrivals. */
  follow(directory: Directory): void {
    this.#directory = directory;
    if (this.#nodes.self === null) return;
    for (const { project } of directory.all()) if (this.isHere(project)) this.#here.add(project.id);
    directory.onChanged((id, held) => this.#look(id, held));
  }

  /** Calls a listener when a project comes to this node or leaves it while both nodes run. */
  onChanged(listener: HomeListener): void {
    this.#listeners.push(listener);
  }

  /** The name of this node; null if it is alone. */
  get self(): string | null {
    return this.#nodes.self;
  }

  /** The name of what each node has for its own projects, such as a cursor in the event log. */
  nameOf(part: string): string {
    const { self } = this.#nodes;
    return self === null ? part : `${part}@${self}`;
  }

  /** Whether a project's repository is on this node. That of a project under creation is. */
  isHere({ id }: Pick<Project, "id">): boolean {
    const { self } = this.#nodes;
    if (self === null) return true;
    const held = this.#directory?.get(id) ?? null;
    return held === null || held.project.home === self;
  }

  /** Lets a project be changed here, once this node has taken it over. */
  settle({ id }: Pick<Project, "id">): void {
    this.#arriving.delete(id);
  }

  /**
   * Checks that a project's repository is on this node.
   *
   * @throws Unavailable
   */
  require(project: Pick<Project, "id">): void {
    if (!this.isHere(project)) throw this.#refusal(project);
  }

  /**
   * Checks that this node has taken a project over, so that it may be changed here.
   *
   * @throws Unavailable
   */
  requireTaken(project: Pick<Project, "id">): void {
    if (!this.isHere(project) || this.#arriving.has(project.id)) throw this.#refusal(project);
  }

  #refusal({ id }: Pick<Project, "id">): Unavailable {
    const { home, slug } = this.#directory?.get(id)?.project ?? {};
    const name = home ?? "";
    if (!this.#nodes.isRunning(name)) return nobodyRuns();
    return new Unavailable(`The project "${slug}" is on another node; try again`, {
      retryAfterSeconds: RETRY_SECONDS,
    });
  }

  /** The running node that has a project's repository; null if this one does or none runs. */
  elsewhere(project: Pick<Project, "id">): NodeRecord | null {
    if (this.isHere(project)) return null;
    const name = this.#directory?.get(project.id)?.project.home ?? "";
    return this.#nodes.isRunning(name) ? this.#nodes.find(name) : null;
  }

  /** Another node that runs, by its name; null for any other name. */
  named(name: string): NodeRecord | null {
    if (name === this.#nodes.self || !this.#nodes.isRunning(name)) return null;
    return this.#nodes.find(name);
  }

  /**
   * Checks that a name is that of this node.
   *
   * @throws NotFound if there is no such node, Unavailable if it is another one
   */
  requireSelf(name: string): void {
    if (name === this.#nodes.self) return;
    throw this.#nodes.find(name) === null
      ? new NotFound(`There is no node "${name}"`)
      : notRunning(name);
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

  #look(id: string, held: HeldProject | null): void {
    if (held === null) {
      this.#here.delete(id);
      return;
    }
    const isHere = held.project.home === this.#nodes.self;
    if (isHere === this.#here.has(id)) return;
    if (isHere) {
      this.#here.add(id);
      this.#arriving.add(id);
    } else {
      this.#here.delete(id);
      this.#arriving.delete(id);
    }
    for (const listener of this.#listeners) listener(held.project, isHere);
  }
}
