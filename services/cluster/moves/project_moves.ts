import { dirname } from "node:path";
import { type Database, statement, Unchanged } from "../../engines/database/mod.ts";
import { Conflict, NotFound, Unavailable } from "../../kernel/errors.ts";
import { type Caller, originOf } from "../../people/identity/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { NodeClient, Nodes } from "../nodes/mod.ts";
import { type NodeRecord, notRunning } from "../../kernel/nodes.ts";
import type {
  HeldProject,
  Project,
  ProjectRepositories,
  Projects,
} from "../../work/projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Uploads } from "../../work/releases/mod.ts";
import { type PartSum, REPOSITORY, sumOf } from "./arriving_copies.ts";
import { changedBlocks } from "./changed_blocks.ts";
import { NodeCopy } from "./node_copy.ts";

/** Longest wait for what follows the events of a project, in milliseconds. */
const CATCHING_UP = 5000;

/** Pause between two questions whether a move has happened, in milliseconds. */
const ASKING_PAUSE = 500;

/** Pause between two removals of old copies, in milliseconds. */
const SWEEP_INTERVAL = 60 * 60 * 1000;

/** Follows the events of projects. */
interface EventFollower {
  /** Resolves when all events so far are handled. */
  idle(): Promise<void>;
}

export interface ProjectMovesOptions {
  readonly database: Database;
  readonly projects: Pick<Projects, "require" | "moving">;
  readonly repositories: ProjectRepositories;
  readonly uploads: Pick<Uploads, "filesOf" | "hold">;
  readonly nodes: Pick<Nodes, "self" | "find" | "isRunning">;
  /** Null if the server is alone. */
  readonly client: Pick<NodeClient, "ask"> | null;
  /** What has to do something for the events before the project leaves. */
  readonly followers: readonly EventFollower[];
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** Moves projects from this node to others, while they are used. */
export class ProjectMoves {
  readonly #options: ProjectMovesOptions;
  readonly #moving = new Set<string>();
  readonly #ended = new AbortController();
  #cancelSweep: () => void = () => {};
  /** The removal of what is left of moved projects. */
  #removing: Promise<void> = Promise.resolve();

  constructor(options: ProjectMovesOptions) {
    this.#options = options;
  }

  /** Begins to remove what is left of projects that were moved long ago. */
  start(): void {
    const { repositories: { files }, nodes, scheduler, log } = this.#options;
    if (nodes.self === null) return;
    this.#removing = files.removeMoved(Date.now()).catch((error) =>
      log.warn("The copies of moved projects cannot be removed", { error })
    );
    this.#cancelSweep = scheduler.after(SWEEP_INTERVAL, () => this.start());
  }

  /**
   * Gives up the moves under way; each project stays where it is. Resolves when no copy is being
   * removed.
   */
  async close(): Promise<void> {
    this.#cancelSweep();
    this.#ended.abort(new Unavailable("muster is shutting down"));
    await this.#removing;
  }

  /**
   * Moves a project to another node.
   *
   * @throws NotFound if there is no such project or node; Conflict if it is there or moves already
   * @throws Unavailable if a node does not run or the copy fails; the project then stays
   */
  async move(slug: string, to: string, caller: Caller): Promise<HeldProject> {
    const { projects, repositories } = this.#options;
    const { project } = projects.require(slug);
    repositories.homes.require(project);
    const { client } = this.#options;
    if (client === null) throw new Conflict("This server has no other nodes");
    const node = this.#targetOf(project, to);
    if (this.#moving.has(project.id)) throw new Conflict(`The project "${slug}" is moving already`);
    this.#moving.add(project.id);
    const copy = new NodeCopy({ client, node, project, signal: this.#ended.signal });
    try {
      await this.#copyAndSwitch(project, { copy, node, caller });
    } catch (error) {
      await copy.drop().catch(() => {});
      throw error;
    } finally {
      this.#moving.delete(project.id);
    }
    return projects.require(slug);
  }

  /** @throws NotFound, Conflict, Unavailable */
  #targetOf({ slug }: Project, name: string): NodeRecord {
    const { nodes } = this.#options;
    const node = nodes.find(name);
    if (node === null) throw new NotFound(`There is no node "${name}"`);
    if (name === nodes.self) throw new Conflict(`The project "${slug}" is on "${name}" already`);
    if (node.drainedAt !== null) throw new Conflict(`The node "${name}" takes no new projects`);
    if (!nodes.isRunning(name)) throw notRunning(name);
    return node;
  }

  async #copyAndSwitch(
    project: Project,
    { copy, node, caller }: {
      readonly copy: NodeCopy;
      readonly node: NodeRecord;
      readonly caller: Caller;
    },
  ): Promise<void> {
    const { repositories, uploads, scheduler, log } = this.#options;
    await copy.begin();
    await using temporary = new AsyncDisposableStack();
    const snapshot = async () => {
      const path = await repositories.export(project, "fossil", { signal: this.#ended.signal });
      temporary.defer(() => Deno.remove(dirname(path), { recursive: true }));
      return path;
    };
    const first = await snapshot();
    await copy.send(REPOSITORY, first, [{ offset: 0, length: (await Deno.stat(first)).size }]);
    await copy.verify();
    await this.#followersIdle();
    await repositories.handOver(project, caller, async () => {
      const stopped = scheduler.now();
      const resume = await uploads.hold(project);
      try {
        const last = await snapshot();
        await copy.send(REPOSITORY, last, await changedBlocks(first, last));
        const sums: PartSum[] = [Object.assign(await sumOf(last), { name: REPOSITORY })];
        for (const [name, path] of await uploads.filesOf(project)) {
          const sum = await sumOf(path);
          await copy.send(name, path, [{ offset: 0, length: sum.bytes }]);
          sums.push(Object.assign(sum, { name }));
        }
        await copy.finish(sums);
        this.#ended.signal.throwIfAborted();
        await this.#switch(project, node, caller);
        const waited = scheduler.now() - stopped;
        log.info("A project was moved", { slug: project.slug, to: node.name, waited });
        await repositories.files.setAside(project, "moved");
      } finally {
        resume();
      }
    });
  }

  /** Waits for what follows events, so that nothing is left for the other node. */
  async #followersIdle(): Promise<void> {
    const { followers, scheduler } = this.#options;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = scheduler.after(CATCHING_UP, resolve);
    await Promise.race([Promise.all(followers.map((follower) => follower.idle())), late]);
    cancel();
  }

  /** Changes the home. If the database does not say whether it did, finds out. */
  async #switch(project: Project, node: NodeRecord, caller: Caller): Promise<void> {
    const { database, projects, nodes } = this.#options;
    if (!nodes.isRunning(node.name)) throw notRunning(node.name);
    const from = nodes.self ?? "";
    try {
      await database.commit(projects.moving(project, { from, to: node.name }, originOf(caller)));
    } catch (error) {
      if (error instanceof Unchanged) {
        throw new Conflict(`The project "${project.slug}" is on "${from}" no more`);
      }
      if (!(error instanceof Unavailable) || !await this.#hasLeft(project, from)) throw error;
    }
  }

  /**
   * Whether a project has left this node. Waits for the database: until it answers, neither node may
   * write to the repository.
   */
  async #hasLeft({ id }: Project, from: string): Promise<boolean> {
    const { database, scheduler } = this.#options;
    // It waits for a transaction that is still under way.
    const staying = database.tables.updateTable("projects").set({ home: from })
      .where("id", "=", id).where("home", "=", from);
    while (!this.#ended.signal.aborted) {
      try {
        await database.commit({ statements: [statement(staying, { mustChange: true })] });
        return false;
      } catch (error) {
        if (error instanceof Unchanged) return true;
        if (!(error instanceof Unavailable)) throw error;
      }
      const paused = Promise.withResolvers<void>();
      const cancel = scheduler.after(ASKING_PAUSE, paused.resolve);
      const end = () => paused.resolve();
      this.#ended.signal.addEventListener("abort", end);
      await paused.promise;
      this.#ended.signal.removeEventListener("abort", end);
      cancel();
    }
    throw this.#ended.signal.reason;
  }
}
