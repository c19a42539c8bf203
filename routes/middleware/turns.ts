import { createMiddleware } from "hono/factory";
import { Unavailable } from "../../services/errors.ts";
import type { AppEnv } from "../context.ts";

/** Requests that may wait for their turn; one more is refused. */
const MAX_WAITING = 1000;

/**
 * Milliseconds from one turn to the next. A login costs the main thread one or two; a message takes
 * several turns of the event loop and should meet few logins.
 */
const PAUSE = 5;

/**
 * Lets simultaneous requests proceed one by one, so that other work of the program can run between
 * them. A single request proceeds at once. If too many wait, the answer is 503. Place this before
 * slow middleware and after the middleware that refuses floods from one address.
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
