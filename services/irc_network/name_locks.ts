import { Unavailable } from "../errors.ts";
import { foldCase } from "../irc/mod.ts";

/** Tasks that may wait in all; one more is refused. */
const MAX_WAITING = 1000;

/** Lets the changes of one account go on one after the other. */
export class NameLocks {
  /** The end of the last task of each name that has any. */
  readonly #last = new Map<string, Promise<void>>();
  #waiting = 0;

  /**
   * Runs a task when all earlier ones of the same name are over, however they ended.
   *
   * @throws Unavailable where too many tasks wait
   */
  async hold<T>(name: string, task: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING) {
      throw new Unavailable("Too many changes wait for the IRC network");
    }
    const key = foldCase(name);
    const before = this.#last.get(key);
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    this.#last.set(key, over);
    this.#waiting++;
    try {
      await before;
      return await task();
    } finally {
      this.#waiting--;
      if (this.#last.get(key) === over) this.#last.delete(key);
      end();
    }
  }
}
