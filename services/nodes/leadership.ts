import type { Database, Peers, Statement } from "../database/mod.ts";
import type { Log } from "../log.ts";
import { Sweep } from "../sweep.ts";

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
