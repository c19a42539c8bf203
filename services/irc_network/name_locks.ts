import { Unavailable } from "../errors.ts";
import { foldCase } from "../irc/mod.ts";

/** Most locks held or waited for in all; one more is refused. */
const MAX_LOCKS = 1000;

/** Locks on the names of accounts, so that changes of one account run in turn. */
export class NameLocks {
  /** The end of the last lock on each name that has any. */
  readonly #last = new Map<string, Promise<void>>();
  #count = 0;

  /**
   * Waits until every earlier lock on a name is released, and locks the name.
   *
   * @returns the lock; disposing it releases the name
   * @throws Unavailable if too many locks are held or waited for
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
    await before;
    return {
      [Symbol.dispose]: () => {
        this.#count--;
        if (this.#last.get(key) === released) this.#last.delete(key);
        release();
      },
    };
  }
}
