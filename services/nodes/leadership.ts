import type { Database, Peers, Statement } from "../database/mod.ts";
import type { Log } from "../log.ts";

/** Work that one node does for all of them, such as timers and bots. */
export interface LeadingWork {
  /** Begins or resumes. What happened meanwhile is in the database. */
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
  #isDoing = false;
  #turning: Promise<void> | null = null;
  #isOpen = false;
  #unsubscribe = () => {};

  constructor(options: LeadershipOptions) {
    this.#options = options;
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
    this.#unsubscribe = database.onPeersLooked(() => void this.#turn());
    database.peers?.stand(true);
    await this.#turn();
  }

  /** Stops the work, and lets another node lead. It can begin again. */
  async end(): Promise<void> {
    this.#isOpen = false;
    this.#unsubscribe();
    await this.#turn();
    this.#options.database.peers?.stand(false);
  }

  /** Resolves when the work fits who leads; for tests. */
  async turned(): Promise<void> {
    await this.#turn();
  }

  /** Starts or stops the work until it fits who leads. */
  #turn(): Promise<void> {
    return this.#turning ??= this.#fit().finally(() => this.#turning = null);
  }

  async #fit(): Promise<void> {
    while (this.#isDoing !== (this.#isOpen && this.isLeading)) {
      this.#isDoing = !this.#isDoing;
      if (this.#isDoing) { for (const work of this.#works) await this.#try(() => work.start()); }
      // At once: another node may begin within a second, whatever one of them waits for.
      else await Promise.all(this.#works.toReversed().map((work) => this.#try(() => work.stop())));
    }
  }

  async #try(step: () => void | Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#options.log.error("Work of the leading node failed to start or stop", { error });
    }
  }
}
