import { type Database, statement, Unchanged } from "../../engines/database/mod.ts";
import { Conflict, Unavailable } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import { Semaphore } from "../../kernel/semaphore.ts";

/** How long a change of an account may take, in milliseconds. */
const LEASE_MILLISECONDS = 120_000;

/** How long a change waits for that of another node, and how often it looks. */
const PATIENCE_MILLISECONDS = 10_000;
const PAUSE_MILLISECONDS = 250;

export interface NameLeasesOptions {
  readonly database: Pick<Database, "tables" | "commit">;
  /** The name of this node. */
  readonly node: string;
  /** The names of the nodes that run, this one among them; empty while that is unknown. */
  readonly running: () => ReadonlySet<string>;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** Locks on the names of accounts between nodes. What a node held that no longer runs is free. */
export class NameLeases {
  readonly #options: NameLeasesOptions;

  constructor(options: NameLeasesOptions) {
    this.#options = options;
  }

  /**
   * Takes a name that nothing else in this program holds.
   *
   * @param folded the folded name
   * @throws Conflict if another node holds it for long, Unavailable
   */
  async take(folded: string): Promise<void> {
    const { scheduler } = this.#options;
    const deadline = scheduler.now() + PATIENCE_MILLISECONDS;
    while (!await this.#try(folded)) {
      if (scheduler.now() >= deadline) {
        throw new Conflict(`Another node is changing the account "${folded}": try again`);
      }
      await new Promise<void>((resume) => scheduler.after(PAUSE_MILLISECONDS, resume));
    }
  }

  /** Gives a name back. If that fails, this node alone can take it, until the lease runs out. */
  release(folded: string): void {
    const { database, node, log } = this.#options;
    const removal = database.tables.deleteFrom("name_leases")
      .where("name_folded", "=", folded).where("node", "=", node);
    database.commit({ statements: [statement(removal)] }).catch((error: unknown) => {
      log.warn("The end of a change of an account could not be stored", { error });
    });
  }

  async #try(folded: string): Promise<boolean> {
    const { database, node, running, scheduler } = this.#options;
    const now = scheduler.now();
    const row = { node, expires_at: now + LEASE_MILLISECONDS };
    const known = [...running()];
    const insertion = database.tables.insertInto("name_leases")
      .values({ name_folded: folded, ...row })
      .onConflict((conflict) =>
        conflict.column("name_folded").doUpdateSet(row).where(({ eb, or }) =>
          or([
            eb("name_leases.expires_at", "<", now),
            ...(known.length === 0 ? [] : [eb("name_leases.node", "not in", known)]),
            eb("name_leases.node", "=", node),
          ])
        )
      );
    try {
      await database.commit({ statements: [statement(insertion, { mustChange: true })] });
      return true;
    } catch (error) {
      if (error instanceof Unchanged) return false;
      throw error;
    }
  }
}

/** Locks on the names of accounts, so that changes of one account run in turn. */
export class NameLocks {
  readonly #leases: Pick<NameLeases, "take" | "release"> | null;
  readonly #turns = new Semaphore({
    permitsPerKey: 1,
    maxWaitingPerKey: 1000,
    refusal: () => new Unavailable("Too many changes wait for the IRC network"),
  });

  /** @param leases the same between nodes; null without nodes */
  constructor(leases: Pick<NameLeases, "take" | "release"> | null) {
    this.#leases = leases;
  }

  /**
   * Waits until every earlier lock on a name is released, and locks the name.
   *
   * @returns the lock; disposing it releases the name
   * @throws Unavailable if too many locks are waited for, Conflict if another node holds it
   */
  async acquire(name: string): Promise<Disposable> {
    const key = foldCase(name);
    const turn = await this.#turns.acquire(key);
    try {
      await this.#leases?.take(key);
    } catch (error) {
      turn[Symbol.dispose]();
      throw error;
    }
    return {
      [Symbol.dispose]: () => {
        this.#leases?.release(key);
        turn[Symbol.dispose]();
      },
    };
  }
}
