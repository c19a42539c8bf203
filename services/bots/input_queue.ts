import { BoundedQueue } from "../kernel/bounded_queue.ts";

/** Most inputs that wait for a bot. */
const MAX_WAITING = 1000;

type Task = () => void | Promise<void> | undefined;

/** One that waits; the same task may wait several times. */
interface Input {
  readonly task: Task;
}

/**
 * What happens, for one bot: one thing after the other. While nothing waits, the bot gets it at
 * once. What exceeds the limit is dropped, and its number told when there is room again.
 */
export class InputQueue {
  readonly #onFailure: (error: unknown) => void;
  readonly #onDropped: (count: number) => void;
  readonly #waiting = new BoundedQueue<Input>({ max: MAX_WAITING });
  #running: Promise<void> | null = null;
  /** Whether a task runs that may add others. */
  #isInTask = false;
  #dropped = 0;

  constructor(onFailure: (error: unknown) => void, onDropped: (count: number) => void) {
    this.#onFailure = onFailure;
    this.#onDropped = onDropped;
  }

  add(task: Task): void {
    if (this.#isFree) this.#runAll({ task });
    else if (!this.#waiting.tryAdd({ task })) this.#dropped++;
  }

  /** Adds a task of the bot itself, which is never dropped: the bot counts on it. */
  addOwn(task: Task): void {
    if (this.#isFree) this.#runAll({ task });
    else this.#waiting.add({ task });
  }

  /** Forgets what waits. Resolves when the present task is done. */
  async close(): Promise<void> {
    this.#waiting.clear();
    await this.#running;
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  /** Whether nothing runs, so that nothing waits either. */
  get #isFree(): boolean {
    return this.#running === null && !this.#isInTask;
  }

  /** Runs tasks until one of them takes time. */
  #runAll(first = this.#waiting.take()): void {
    for (let input = first; input !== undefined; input = this.#next()) {
      if (this.#dropped > 0) this.#tellDropped();
      this.#isInTask = true;
      try {
        const result = input.task();
        if (result !== undefined) this.#wait(result);
      } catch (error) {
        this.#onFailure(error);
      } finally {
        this.#isInTask = false;
      }
    }
  }

  #next(): Input | undefined {
    return this.#running === null ? this.#waiting.take() : undefined;
  }

  #wait(result: Promise<void>): void {
    this.#running = result.catch((error: unknown) => this.#onFailure(error)).then(() => {
      this.#running = null;
      this.#runAll();
    });
  }

  #tellDropped(): void {
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#onDropped(dropped);
  }
}
