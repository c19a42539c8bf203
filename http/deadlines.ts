/** A wait that has not ended yet. */
interface Wait {
  /** In milliseconds, as `performance.now()`. */
  readonly dueAt: number;
  readonly fail: (error: Error) => void;
}

/**
 * Limits how long tasks may take. All of them have the same limit, so one timer is enough, and a
 * task that ends in time costs none.
 */
export class Deadlines {
  readonly #milliseconds: number;
  readonly #newError: () => Error;
  /** The oldest first, which is also the first that is due. */
  readonly #waits = new Set<Wait>();
  /** Set for the oldest wait, or for one that has ended since. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param milliseconds the limit
   * @param newError creates the error of a task that exceeds it
   */
  constructor(milliseconds: number, newError: () => Error) {
    this.#milliseconds = milliseconds;
    this.#newError = newError;
  }

  /**
   * Waits for a task.
   *
   * @throws what the task throws, or the error of a task that is late
   */
  limit<Result>(task: Promise<Result>): Promise<Result> {
    return new Promise((resolve, fail) => {
      const wait = { dueAt: performance.now() + this.#milliseconds, fail };
      this.#waits.add(wait);
      if (this.#timer === undefined) this.#startTimer(this.#milliseconds);
      task.then(
        (result) => {
          this.#waits.delete(wait);
          resolve(result);
        },
        (error) => {
          this.#waits.delete(wait);
          fail(error);
        },
      );
    });
  }

  #startTimer(milliseconds: number): void {
    this.#timer = setTimeout(() => this.#endLate(), milliseconds);
    Deno.unrefTimer(this.#timer);
  }

  #endLate(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const wait of this.#waits) {
      const rest = wait.dueAt - now;
      if (rest > 0) return this.#startTimer(Math.ceil(rest));
      this.#waits.delete(wait);
      wait.fail(this.#newError());
    }
  }
}
