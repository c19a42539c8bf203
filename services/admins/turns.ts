import { Unavailable } from "../errors.ts";

/** Turns that may be waited for; one more is refused. */
const MAX_WAITING = 1000;

/**
 * Milliseconds from one turn to the next. A login costs the main thread one or two; a message goes
 * round the event loop several times and should meet few of them.
 */
const PAUSE = 5;

/**
 * Lets what comes all at once go on one by one, so that whatever else happens in the program comes
 * in between and does not wait for the whole of it.
 */
export class Turns {
  #last: Promise<void> = Promise.resolve();
  #lastAt = -Infinity;
  #waiting = 0;

  /**
   * Waits for a turn of one's own; who comes alone has it at once.
   *
   * @throws Unavailable where too many wait
   */
  async take(): Promise<void> {
    if (this.#waiting >= MAX_WAITING) throw new Unavailable("Too many logins at the moment");
    this.#waiting += 1;
    this.#last = this.#last.then(() => this.#pause());
    await this.#last;
    this.#waiting -= 1;
  }

  async #pause(): Promise<void> {
    const rest = this.#lastAt + PAUSE - performance.now();
    if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
    this.#lastAt = performance.now();
  }
}
