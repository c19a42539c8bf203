import type { Scheduler } from "../../services/kernel/scheduler.ts";
import { until } from "./until.ts";

interface Task {
  readonly at: number;
  readonly run: () => void;
}

/** Time that passes when the test says so. */
export class TestScheduler implements Scheduler {
  #now = Date.parse("2026-11-20T12:00:00Z");
  readonly #tasks = new Set<Task>();

  /** By how much the time of day was set. */
  #set = 0;

  readonly now = (): number => this.#now + this.#set;

  readonly steady = (): number => this.#now;

  after(milliseconds: number, run: () => void): () => void {
    const task = { at: this.#now + milliseconds, run };
    this.#tasks.add(task);
    return () => this.#tasks.delete(task);
  }

  /** The number of scheduled tasks. */
  get pending(): number {
    return this.#tasks.size;
  }

  /** Sets the time of day forward or back, which no timer notices. */
  setClock(milliseconds: number): void {
    this.#set += milliseconds;
  }

  /** Lets time pass, and runs what falls due meanwhile, in order. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (;;) {
      const [next] = [...this.#tasks].sort((one, other) => one.at - other.at);
      if (next === undefined || next.at > end) break;
      this.#tasks.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
    }
    this.#now = end;
  }

  /**
   * Lets time pass, a step in each turn of the event loop, until a promise settles. Code that has yet
   * to read something may set its timer only after a single {@link advance}, and then waits for good.
   *
   * @param step in milliseconds
   * @throws what the promise rejects with; Error, if it does not settle within the limit of `until`
   */
  async passUntil<Value>(waiting: Promise<Value>, step = 1): Promise<Value> {
    let isSettled = false;
    const settle = () => void (isSettled = true);
    waiting.then(settle, settle);
    await until(() => {
      if (!isSettled) this.advance(step);
      return isSettled;
    });
    return await waiting;
  }
}
