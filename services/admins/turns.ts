import { Unavailable } from "../errors.ts";

/** Turns that may be waited for; one more is refused. */
const MAX_WAITING = 1000;

/**
 * Lets what comes all at once go on one by one, so that whatever else happens in the program comes
 * in between and does not wait for the whole of it.
 */
export class Turns {
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  /**
   * Waits for a turn of one's own.
   *
   * @throws Unavailable where too many wait
   */
  async take(): Promise<void> {
    if (this.#waiting >= MAX_WAITING) throw new Unavailable("Too many logins at the moment");
    this.#waiting += 1;
    this.#last = this.#last.then(nextTask);
    await this.#last;
    this.#waiting -= 1;
  }
}

/** Resolves when the event loop has gone round. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
