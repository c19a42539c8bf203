/** How often in its limit a task is looked at, so that it ends at most a quarter too late. */
const LOOKS = 4;

/** A task that has not ended yet. */
interface Running {
  /** The number of looks before it. */
  readonly since: number;
  readonly fail: (error: Error) => void;
}

/**
 * Limits how long tasks may take. All of them have the same limit, so one timer is enough, and a
 * task that ends in time neither sets one nor reads the clock.
 */
export class Deadlines {
  readonly #milliseconds: number;
  readonly #newError: () => Error;
  /** The oldest first. */
  readonly #running = new Set<Running>();
  #look = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param milliseconds the limit, which a task may exceed by a quarter
   * @param newError creates the error of a task that exceeds it
   */
  constructor(milliseconds: number, newError: () => Error) {
    this.#milliseconds = milliseconds;
    this.#newError = newError;
  }

  /**
   * Waits for a task.
   *
   * @param asError turns what the task throws into the error of the caller
   * @throws that error, or the one of a task that is late
   */
  limit<Result>(task: Promise<Result>, asError: (error: unknown) => unknown): Promise<Result> {
    return new Promise((resolve, fail) => {
      const running = { since: this.#look, fail };
      this.#running.add(running);
      if (this.#timer === undefined) this.#startTimer();
      task.then(
        (result) => {
          this.#running.delete(running);
          resolve(result);
        },
        (error) => {
          this.#running.delete(running);
          fail(asError(error));
        },
      );
    });
  }

  #startTimer(): void {
    this.#timer = setTimeout(() => this.#endLate(), this.#milliseconds / LOOKS);
    Deno.unrefTimer(this.#timer);
  }

  #endLate(): void {
    this.#timer = undefined;
    this.#look++;
    for (const running of this.#running) {
      // It may have begun just before its first look.
      if (this.#look - running.since <= LOOKS) break;
      this.#running.delete(running);
      running.fail(this.#newError());
    }
    if (this.#running.size > 0) this.#startTimer();
  }
}
