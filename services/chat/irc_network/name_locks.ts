import { Unavailable } from "../../kernel/errors.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import { Semaphore } from "../../kernel/semaphore.ts";
import type { NameLeases } from "./name_leases.ts";

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
