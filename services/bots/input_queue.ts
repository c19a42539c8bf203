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
    if (this.#waiting.tryAdd({ task })) this.#begin();
    else this.#dropped++;
  }

  /** Adds a task of the bot itself, which is never dropped: the bot counts on it. */
  addOwn(task: Task): void {
    this.#waiting.add({ task });
    this.#begin();
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

  #begin(): void {
    if (this.#running === null && !this.#isInTask) this.#runAll();
  }

  /** Runs tasks until one of them takes time. */
  #runAll(): void {
    let input: Input | undefined;
    while (this.#running === null && (input = this.#waiting.take()) !== undefined) {
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
