import { createMiddleware } from "hono/factory";
import { Unavailable } from "../../services/kernel/errors.ts";
import { Semaphore } from "../../services/kernel/semaphore.ts";
import { TokenBucket } from "../../services/kernel/token_bucket.ts";
import type { AppEnv } from "../context.ts";

/** Logins that may wait for the next ones; one more is refused. */
const MAX_WAITING = 1000;

/**
 * A login costs the main thread one or two milliseconds; a message takes several turns of the event
 * loop and should meet few logins.
 */
const PACE = { perSecond: 200, burst: 1 };

/**
 * Lets simultaneous requests proceed one by one, so that other work of the program can run between
 * them. A single request proceeds at once. If too many wait, the answer is 503. Place this before
 * slow middleware and after the middleware that refuses floods from one address.
 */
export function paceLogins() {
  const refusal = () => new Unavailable("Too many logins at the moment");
  const semaphore = new Semaphore({ permits: 1, maxWaiting: MAX_WAITING, refusal });
  const bucket = new TokenBucket(PACE, performance.now());
  const wait = async () => {
    using _permit = await semaphore.acquire();
    const delay = bucket.delay(performance.now());
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    bucket.take(performance.now());
  };
  return createMiddleware<AppEnv>(async (_context, next) => {
    await wait();
    await next();
  });
}
