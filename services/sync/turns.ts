import { TooMany } from "../errors.ts";

export interface TurnsOptions {
  /** How many tasks of one caller run at once. */
  readonly atOnce: number;
  /** How many more of them wait; further ones are refused. */
  readonly maxWaiting: number;
}

interface Line {
  running: number;
  readonly waiting: (() => void)[];
}

/** Tasks of callers: a few of each caller run at once, and the others wait in their order. */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #lines = new Map<string, Line>();

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /**
   * Runs a task when it is its turn.
   *
   * @param signal ends the wait of a caller that has gone; the task then does not run.
   * @throws TooMany if too many tasks of the caller wait; otherwise what the task throws
   */
  async run<T>(caller: string, task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const line = this.#lines.get(caller) ?? { running: 0, waiting: [] };
    this.#lines.set(caller, line);
    if (line.running < this.#options.atOnce) line.running++;
    else await this.#wait(line);
    try {
      signal.throwIfAborted();
      return await task();
    } finally {
      const next = line.waiting.shift();
      if (next !== undefined) next();
      else if (--line.running === 0) this.#lines.delete(caller);
    }
  }

  /** Takes over the place of a task that ends. */
  async #wait({ waiting }: Line): Promise<void> {
    if (waiting.length >= this.#options.maxWaiting) {
      throw new TooMany("Too many of your messages wait to be answered; try again later");
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
}
