import { Unavailable } from "../errors.ts";
import { foldCase } from "../irc/mod.ts";
import type { NameLeases } from "./name_leases.ts";

/** Most locks held or waited for in all; one more is refused. */
const MAX_LOCKS = 1000;

/** Locks on the names of accounts, so that changes of one account run in turn. */
export class NameLocks {
  readonly #leases: Pick<NameLeases, "take" | "release"> | null;
  /** The end of the last lock on each name that has any. */
  readonly #last = new Map<string, Promise<void>>();
  #count = 0;

  /** @param leases the same between nodes; null without nodes */
  constructor(leases: Pick<NameLeases, "take" | "release"> | null) {
    this.#leases = leases;
  }

  /**
   * Waits until every earlier lock on a name is released, and locks the name.
   *
   * @returns the lock; disposing it releases the name
   * @throws Unavailable if too many locks are held or waited for, Conflict if another node holds it
   */
  async acquire(name: string): Promise<Disposable> {
    if (this.#count >= MAX_LOCKS) {
      throw new Unavailable("Too many changes wait for the IRC network");
    }
    const key = foldCase(name);
    const before = this.#last.get(key);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    this.#last.set(key, released);
    this.#count++;
    const unlock = () => {
      this.#count--;
      if (this.#last.get(key) === released) this.#last.delete(key);
      release();
    };
    await before;
    if (this.#leases === null) return { [Symbol.dispose]: unlock };
    try {
      await this.#leases.take(key);
    } catch (error) {
      unlock();
      throw error;
    }
    return {
      [Symbol.dispose]: () => {
        this.#leases?.release(key);
        unlock();
      },
    };
  }
}
