import { createMiddleware } from "hono/factory";
import { Unavailable } from "../../services/errors.ts";
import type { AppEnv } from "../context.ts";

/** Requests that may wait for their turn; one more is refused. */
const MAX_WAITING = 1000;

/**
 * Milliseconds from one turn to the next. A login costs the main thread one or two; a message goes
 * round the event loop several times and should meet few of them.
 */
const PAUSE = 5;

/**
 * Lets requests that come all at once go on one by one, so that whatever else happens in the
 * program comes in between and does not wait for the whole of them. Who comes alone goes on at
 * once; where too many wait the answer is 503. It stands before whatever takes time, and behind
 * what refuses a flood from one place.
 */
export function takeTurns() {
  const turns = new Turns();
  return createMiddleware<AppEnv>(async (_context, next) => {
    await turns.take();
    await next();
  });
}

class Turns {
  #last: Promise<void> = Promise.resolve();
  #lastAt = -Infinity;
  #waiting = 0;

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
