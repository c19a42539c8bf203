import type { Database, Peers, Statement } from "../../engines/database/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { Sweep } from "../../kernel/sweep.ts";
import type { Nodes } from "./nodes.ts";

/** Work that one node does for all of them, such as timers and bots. */
export interface LeadingWork {
  /** Begins or resumes. What happened meanwhile is in the database. If it fails, it is called again. */
  start(): void | Promise<void>;
  /** Ends, so that another node can begin. */
  stop(): void | Promise<void>;
}

export interface LeadershipOptions {
  readonly database: Pick<Database, "onPeersLooked"> & {
    readonly peers: Pick<Peers, "isLeading" | "stand" | "whileLeading"> | null;
  };
  readonly log: Log;
}

/**
 * Does work on the one node that leads. A server that is alone always leads. If the leader ends,
 * another node leads within seconds.
 */
export class Leadership {
  readonly #options: LeadershipOptions;
  readonly #works: LeadingWork[] = [];
  /** The work that was begun, and whether it has started. */
  readonly #begun = new Map<LeadingWork, boolean>();
  readonly #sweep: Sweep;
  #isOpen = false;
  #unsubscribe = () => {};

  constructor(options: LeadershipOptions) {
    this.#options = options;
    const { log } = options;
    this.#sweep = new Sweep({ log, name: "begin or cease to lead", task: () => this.#fit() });
  }

  /** Whether this node leads now. */
  get isLeading(): boolean {
    return this.#options.database.peers?.isLeading ?? true;
  }

  /**
   * Statements for a transaction of the leading node: it is rolled back as `Unchanged` if another
   * node may lead already.
   */
  guard(): readonly Statement[] {
    const { peers } = this.#options.database;
    return peers === null ? [] : [peers.whileLeading];
  }

  /** Adds work, which starts after what was added before. All of it stops at the same time. */
  add(work: LeadingWork): void {
    this.#works.push(work);
  }

  /** Starts the work, or lets this node become the leader. */
  async begin(): Promise<void> {
    const { database } = this.#options;
    this.#isOpen = true;
    this.#unsubscribe = database.onPeersLooked(() => this.#sweep.start());
    database.peers?.stand(true);
    await this.turned();
  }

  /** Stops the work, and lets another node lead. It can begin again. */
  async end(): Promise<void> {
    this.#isOpen = false;
    this.#unsubscribe();
    await this.turned();
    this.#options.database.peers?.stand(false);
  }

  /** Resolves when the work fits who leads. */
  async turned(): Promise<void> {
    this.#sweep.start();
    await this.#sweep.idle();
  }

  get #mayWork(): boolean {
    return this.#isOpen && this.isLeading;
  }

  /** Starts or stops the work. What does not start is tried again at the next look. */
  async #fit(): Promise<void> {
    for (const work of this.#works) {
      if (this.#mayWork && this.#begun.get(work) !== true) await this.#start(work);
    }
    if (this.#mayWork) return;
    const begun = [...this.#begun.keys()];
    // At once: another node may begin within a second, whatever one of them waits for.
    await Promise.all(begun.toReversed().map((work) => this.#stop(work)));
  }

  async #start(work: LeadingWork): Promise<void> {
    const isFirst = !this.#begun.has(work);
    this.#begun.set(work, false);
    try {
      await work.start();
      this.#begun.set(work, true);
    } catch (error) {
      if (!isFirst) return;
      this.#options.log.error("Work of the leading node cannot start yet", { error });
    }
  }

  async #stop(work: LeadingWork): Promise<void> {
    this.#begun.delete(work);
    try {
      await work.stop();
    } catch (error) {
      this.#options.log.error("Work of the leading node failed to stop", { error });
    }
  }
}

/** Time for the load balancer to notice that a node is drained, in milliseconds. */
export const LEAVE_AFTER = 10_000;

export interface DrainingOptions {
  readonly nodes: Pick<Nodes, "self" | "find" | "onChanged">;
  readonly leadership: Pick<Leadership, "begin" | "end">;
  readonly scheduler: Pick<Scheduler, "after">;
  readonly log: Pick<Log, "error">;
}

/**
 * Lets this node lead unless it is drained. Some seconds after it was drained, it asks its clients
 * to leave, who come back to another node.
 */
export class Draining {
  readonly #options: DrainingOptions;
  readonly #listeners = new Set<() => void>();
  readonly #sweep: Sweep;
  #isOpen = false;
  #standing = false;
  #unsubscribe = () => {};
  #cancelLeave = () => {};

  constructor(options: DrainingOptions) {
    this.#options = options;
    const { log } = options;
    this.#sweep = new Sweep({ log, name: "drain or resume", task: () => this.#fit() });
  }

  /** Whether an operator has drained this node. */
  get isDrained(): boolean {
    const { nodes } = this.#options;
    return nodes.self !== null && (nodes.find(nodes.self)?.drainedAt ?? null) !== null;
  }

  /**
   * Calls a listener when clients that are connected for long shall leave.
   *
   * @param listener must not throw
   */
  onLeave(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Begins to lead, or to stand by; from now on, it follows what operators say. */
  async begin(): Promise<void> {
    this.#isOpen = true;
    this.#unsubscribe = this.#options.nodes.onChanged(() => this.#sweep.start());
    await this.#turn();
  }

  /** Leads no more. */
  async end(): Promise<void> {
    this.#isOpen = false;
    this.#unsubscribe();
    this.#cancelLeave();
    await this.#turn();
  }

  async #turn(): Promise<void> {
    this.#sweep.start();
    await this.#sweep.idle();
  }

  async #fit(): Promise<void> {
    const { leadership, scheduler } = this.#options;
    while (this.#standing !== (this.#isOpen && !this.isDrained)) {
      this.#standing = !this.#standing;
      this.#cancelLeave();
      if (this.#standing) await leadership.begin();
      else {
        await leadership.end();
        if (!this.#isOpen) continue;
        this.#cancelLeave = scheduler.after(LEAVE_AFTER, () => {
          for (const listener of this.#listeners) listener();
        });
      }
    }
  }
}

export interface CurrencyOptions {
  readonly database: Pick<Database, "isCurrent" | "onPeersLooked"> & {
    readonly peers: Pick<Peers, "currentFor"> | null;
  };
  readonly scheduler: Scheduler;
  /** Called when this node no longer knows what the others end, and again each time it lost that. */
  readonly onLost: () => void;
}

/**
 * Watches whether this node is current: the others stop waiting for it a second after it is not.
 *
 * @returns a function that ends the watch
 */
export function watchCurrency({ database, scheduler, onLost }: CurrencyOptions): () => void {
  const { peers } = database;
  if (peers === null) return () => {};
  let wasCurrent = database.isCurrent;
  let cancel = () => {};
  const look = () => {
    cancel();
    const { isCurrent } = database;
    if (wasCurrent && !isCurrent) onLost();
    wasCurrent = isCurrent;
    if (!isCurrent) return;
    // The end of the lease itself still counts.
    cancel = scheduler.after(peers.currentFor + 1, look);
  };
  const unsubscribe = database.onPeersLooked(look);
  look();
  return () => {
    unsubscribe();
    cancel();
  };
}
