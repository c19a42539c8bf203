import {
  type Database,
  DatabaseError,
  type Directory,
  statement,
} from "../../engines/database/mod.ts";
import { newEvent, SYSTEM } from "../../engines/events/mod.ts";
import { Unavailable } from "../../kernel/errors.ts";
import { type NodeDirectory, type NodeRecord, RETRY_SECONDS } from "../../kernel/nodes.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

/** A node, as the API shows it. */
export interface NodeView {
  readonly name: string;
  readonly url: string;
  readonly version: string;
  readonly started_at: string;
  /** `draining`: it runs and takes no new work; `stopped`: nothing was heard of it for seconds. */
  readonly state: "running" | "draining" | "stopped";
  /** Since when it takes no new work; a restart does not change that. */
  readonly drained_at: string | null;
  /** Whether it does what only one node does. */
  readonly leader: boolean;
  /** Whether it answers this request. */
  readonly self: boolean;
}

export interface NodesOptions {
  readonly database: Database;
  /** The keys `node` of the configuration. */
  readonly config: { readonly name: string; readonly url: string };
  readonly version: string;
  readonly scheduler: Pick<Scheduler, "now">;
}

/** The servers that share the database, in memory. Empty if this one is alone. */
export class Nodes implements Directory, NodeDirectory {
  readonly tables = ["nodes"] as const;
  /** The name of this node; null if it is alone. */
  readonly self: string | null;
  readonly #database: Database;
  readonly #byName = new Map<string, NodeRecord>();
  readonly #listeners = new Set<() => void>();

  private constructor(options: NodesOptions) {
    this.#database = options.database;
    this.self = options.config.name || null;
  }

  /**
   * Reads all nodes, after this one has joined them.
   *
   * @throws DatabaseError if a node that runs has the same URL
   */
  static async open(options: NodesOptions): Promise<Nodes> {
    const nodes = new Nodes(options);
    if (nodes.self !== null) {
      await requireOwnUrl(options);
      await nodes.#join(options);
    }
    await options.database.keepCurrent(nodes);
    return nodes;
  }

  async load(): Promise<void> {
    // A server that is alone has no nodes, although the database may still tell of some.
    if (this.self === null) return;
    const rows = await this.#database.tables.selectFrom("nodes").selectAll().execute();
    this.#byName.clear();
    for (const { name, url, version, started_at: startedAt, drained_at: drainedAt } of rows) {
      this.#byName.set(name, { name, url, version, startedAt, drainedAt });
    }
    this.#tell();
  }

  /**
   * Calls a listener when a node was added, changed or removed, on any node.
   *
   * @param listener must not throw
   * @returns a function that ends the subscription
   */
  onChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes over what a transaction of this node wrote. */
  put(record: NodeRecord): void {
    this.#byName.set(record.name, record);
    this.#tell();
  }

  /** Forgets a node that a transaction of this node removed. */
  drop(name: string): void {
    this.#byName.delete(name);
    this.#tell();
  }

  /** All nodes, by name. */
  all(): readonly NodeRecord[] {
    return [...this.#byName.values()].sort((one, other) => one.name < other.name ? -1 : 1);
  }

  /** A node, or null. */
  find(name: string): NodeRecord | null {
    return this.#byName.get(name) ?? null;
  }

  /** Whether a node was heard of in the last seconds. This one always runs. */
  isRunning(name: string): boolean {
    return name === this.self || (this.#database.peers?.running.has(name) ?? false);
  }

  /**
   * Whether this node knows what the others have ended, such as tokens. If not, it must let nobody
   * in.
   */
  get isCurrent(): boolean {
    return this.#database.isCurrent;
  }

  /** Whether another node runs, as of the next look at them. */
  async hasOthers(): Promise<boolean> {
    const { peers } = this.#database;
    if (peers === null) return false;
    await new Promise<void>((resolve) => {
      const end = this.onLooked(() => {
        end();
        resolve();
      });
    });
    return [...peers.running].some((name) => name !== peers.self);
  }

  /**
   * Calls a listener each second or so, when this node has looked which others run.
   *
   * @returns a function that ends the subscription
   */
  onLooked(listener: () => void): () => void {
    return this.#database.onPeersLooked(listener);
  }

  /** The node that does what only one does; null while there is none, and without nodes. */
  get leader(): NodeRecord | null {
    const name = this.#database.peers?.leader ?? null;
    return name === null ? null : this.find(name);
  }

  /**
   * The other node that does what only one does; null if this one does.
   *
   * @throws Unavailable while none does
   */
  otherLeader(): NodeRecord | null {
    const { peers } = this.#database;
    if (peers === null || peers.isLeading) return null;
    const { leader } = this;
    if (leader !== null) return leader;
    throw new Unavailable("No node leads at the moment; try again", {
      retryAfterSeconds: RETRY_SECONDS,
    });
  }

  /** A node, as the API shows it. */
  viewOf({ name, url, version, startedAt, drainedAt }: NodeRecord): NodeView {
    return {
      name,
      url,
      version,
      started_at: new Date(startedAt).toISOString(),
      state: !this.isRunning(name) ? "stopped" : drainedAt === null ? "running" : "draining",
      drained_at: drainedAt === null ? null : new Date(drainedAt).toISOString(),
      leader: this.#database.peers?.leader === name,
      self: name === this.self,
    };
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  async #join({ config: { name, url }, version, scheduler }: NodesOptions): Promise<void> {
    const now = scheduler.now();
    const row = { url, version, started_at: now };
    await this.#database.commit({
      statements: [
        statement(
          this.#database.tables.insertInto("nodes")
            .values({ name, ...row, drained_at: null })
            .onConflict((conflict) => conflict.column("name").doUpdateSet(row)),
        ),
      ],
      events: [newEvent("node.joined", { node: name, url, version }, SYSTEM, now)],
    });
  }
}

/** @throws DatabaseError if a node that runs has the same URL */
async function requireOwnUrl({ database, config: { name, url } }: NodesOptions): Promise<void> {
  const rows = await database.tables.selectFrom("nodes").select(["name", "url"])
    .where("name", "!=", name).execute();
  const holders = rows.filter((row) => isSameUrl(row.url, url));
  if (holders.length === 0) return;
  await database.peers?.catchUp();
  const running = holders.find((row) => database.peers?.running.has(row.name));
  if (running === undefined) return;
  throw new DatabaseError(
    `The node "${running.name}" runs and has the node.url ${url} too: give each node its own`,
  );
}

function isSameUrl(one: string, other: string): boolean {
  return new URL(one).href === new URL(other).href;
}
