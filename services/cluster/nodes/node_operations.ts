import {
  type Database,
  type NewEvent,
  type Statement,
  statement,
} from "../../engines/database/mod.ts";
import { Unchanged } from "../../engines/database/mod.ts";
import { Conflict, NotFound } from "../../kernel/errors.ts";
import { newEvent } from "../../engines/events/mod.ts";
import { type Caller, originOf } from "../../people/identity/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { NodeRecord } from "../../kernel/nodes.ts";
import type { Nodes, NodeView } from "./nodes.ts";

/** A node, with what it has. */
export interface NodeReport extends NodeView {
  /** How many projects have their repositories there. */
  readonly projects: number;
}

export interface NodeOperationsOptions {
  readonly database: Database;
  readonly nodes: Nodes;
  readonly scheduler: Pick<Scheduler, "now">;
}

/** What operators do with nodes. A server that is alone has none. */
export class NodeOperations {
  readonly #options: NodeOperationsOptions;

  constructor(options: NodeOperationsOptions) {
    this.#options = options;
  }

  /** All nodes, by name. */
  async list(): Promise<NodeReport[]> {
    const { database, nodes } = this.#options;
    const rows = await database.tables.selectFrom("projects").select("home")
      .select(({ fn }) => fn.countAll<number>().as("projects")).where("removed_at", "is", null)
      .groupBy("home").execute();
    const counts = new Map(rows.map(({ home, projects }) => [home, projects]));
    return nodes.all().map((node) => ({
      ...nodes.viewOf(node),
      projects: counts.get(node.name) ?? 0,
    }));
  }

  /**
   * Takes a node out of service: it leads no more, and gets no new projects. It may run or not, and
   * stays drained over a restart. Does nothing if it is drained already.
   *
   * @throws NotFound
   * @throws Conflict if no other node could do its work
   */
  async drain(name: string, caller: Caller): Promise<void> {
    const { nodes, scheduler, database } = this.#options;
    const node = this.#find(name);
    if (node.drainedAt !== null) return;
    const takesWork = (other: NodeRecord) =>
      other.name !== name && other.drainedAt === null && nodes.isRunning(other.name);
    if (!nodes.all().some(takesWork)) throw new Conflict(noOther(name));
    const now = scheduler.now();
    const draining = database.tables.updateTable("nodes").set({ drained_at: now })
      .where("name", "=", name).where("drained_at", "is", null)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom("nodes as others").select("others.name")
            .where("others.name", "!=", name).where("others.drained_at", "is", null),
        )
      );
    await this.#commit(
      statement(draining, {
        mustChange: true,
        committed: () => nodes.put({ ...nodes.find(name) ?? node, drainedAt: now }),
      }),
      newEvent("node.drained", { node: name }, originOf(caller), now),
      noOther(name),
    );
  }

  /**
   * Lets a drained node take work again. Does nothing if it is not drained.
   *
   * @throws NotFound
   * @throws Conflict if somebody else changed it meanwhile
   */
  async resume(name: string, caller: Caller): Promise<void> {
    const { nodes, scheduler, database } = this.#options;
    const node = this.#find(name);
    if (node.drainedAt === null) return;
    const resuming = database.tables.updateTable("nodes").set({ drained_at: null })
      .where("name", "=", name).where("drained_at", "is not", null);
    await this.#commit(
      statement(resuming, {
        mustChange: true,
        committed: () => nodes.put({ ...nodes.find(name) ?? node, drainedAt: null }),
      }),
      newEvent("node.resumed", { node: name }, originOf(caller), scheduler.now()),
      `Somebody else has just changed node "${name}"`,
    );
  }

  /**
   * Forgets a node that was stopped for good.
   *
   * @throws NotFound
   * @throws Conflict if it runs or has projects
   */
  async remove(name: string, caller: Caller): Promise<void> {
    const { nodes, scheduler, database } = this.#options;
    const { startedAt } = this.#find(name);
    if (nodes.isRunning(name)) throw new Conflict(`Node "${name}" runs: stop it first`);
    const removing = database.tables.deleteFrom("nodes").where("name", "=", name)
      // A node that has just started is one that runs.
      .where("started_at", "=", startedAt)
      .where(({ not, exists, selectFrom }) =>
        not(exists(
          selectFrom("projects").select("projects.id").where("home", "=", name)
            .where("removed_at", "is", null),
        ))
      );
    await this.#commit(
      statement(removing, { mustChange: true, committed: () => nodes.drop(name) }),
      newEvent("node.removed", { node: name }, originOf(caller), scheduler.now()),
      `Node "${name}" has projects, or has just started: move its projects and stop it first`,
    );
  }

  #find(name: string): NodeRecord {
    const node = this.#options.nodes.find(name);
    if (node === null) throw new NotFound(`There is no node "${name}"`);
    return node;
  }

  /** @throws Conflict with this refusal if the statement changes nothing */
  async #commit(change: Statement, event: NewEvent, refusal: string): Promise<void> {
    try {
      await this.#options.database.commit({ statements: [change], events: [event] });
    } catch (error) {
      throw error instanceof Unchanged ? new Conflict(refusal) : error;
    }
  }
}

function noOther(name: string): string {
  return `No other node would do the work of "${name}": start or resume one first`;
}
