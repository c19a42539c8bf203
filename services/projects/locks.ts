import { Unavailable } from "../errors.ts";

/** Tasks that may wait for one lock; further ones are refused. */
const MAX_WAITING = 1000;

interface Lock {
  last: Promise<unknown>;
  waiting: number;
}

/** Locks by name: tasks under one name run one at a time, in the order of their calls. */
export class Locks {
  readonly #locks = new Map<string, Lock>();

  /** @throws Unavailable if too many tasks wait; otherwise what the task throws */
  async run<T>(name: string, task: () => Promise<T>): Promise<T> {
    const lock = this.#locks.get(name) ?? { last: Promise.resolve(), waiting: 0 };
    if (lock.waiting >= MAX_WAITING) {
      throw new Unavailable("Too many changes are waiting for this project");
    }
    this.#locks.set(name, lock);
    lock.waiting++;
    const done = lock.last.then(task);
    lock.last = done.catch(() => {});
    try {
      return await done;
    } finally {
      lock.waiting--;
      if (lock.waiting === 0) this.#locks.delete(name);
    }
  }

  /** Waits until no task runs or waits. */
  async idle(): Promise<void> {
    while (this.#locks.size > 0) {
      await Promise.all(Array.from(this.#locks.values(), ({ last }) => last));
    }
  }
}
