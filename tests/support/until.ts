/**
 * How long a test waits for what must come, in milliseconds: a bound for when it never comes, wide
 * enough for a machine that does much else.
 */
export const WAIT_LIMIT = 60_000;

/** How often something is asked that only another program knows, in milliseconds. */
const ASK_EVERY = 50;

/**
 * Asks another program until the answer is as it must become.
 *
 * @param limit in milliseconds
 * @returns that answer
 * @throws Error with the last answer, if it does not become so within the limit
 */
export async function asked<Answer>(
  ask: () => Promise<Answer>,
  isSo: (answer: Answer) => boolean,
  limit = WAIT_LIMIT,
): Promise<Answer> {
  for (const start = performance.now();;) {
    const answer = await ask();
    if (isSo(answer)) return answer;
    if (performance.now() - start > limit) {
      throw new Error(`After ${limit} ms, the answer is ${JSON.stringify(answer)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY));
  }
}

/**
 * Waits for what must come.
 *
 * @param what the subject of the error: what comes
 * @param limit in milliseconds
 * @throws Error with `what()`, if the promise does not settle within the limit
 */
export async function within<Value>(
  promise: Promise<Value>,
  what: () => string,
  limit = WAIT_LIMIT,
): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error(`${what()} did not come within ${limit} ms`));
  }, limit);
  return await Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}

/**
 * Lets everything that is under way in this process go on until a condition holds.
 *
 * @param limit in milliseconds
 * @throws Error with the source of the condition, if it does not hold within the limit
 */
export async function until(condition: () => boolean, limit = WAIT_LIMIT): Promise<void> {
  const start = performance.now();
  while (!condition()) {
    if (performance.now() - start > limit) {
      throw new Error(`This did not come to hold within ${limit} ms: ${condition}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

/**
 * Does something again and again while a promise is pending.
 *
 * @param act what the promise waits for, step by step
 * @param limit in milliseconds
 * @returns what the promise resolves with
 * @throws Error if the promise does not settle within the limit
 */
export async function meanwhile<Value>(
  promise: Promise<Value>,
  act: () => Promise<unknown> | undefined,
  limit = WAIT_LIMIT,
): Promise<Value> {
  let isOver = false;
  const over = promise.finally(() => isOver = true);
  for (const start = performance.now(); !isOver;) {
    if (performance.now() - start > limit) {
      over.catch(() => {});
      throw new Error(`The promise did not settle in ${limit} ms of this: ${act}`);
    }
    await act();
  }
  return await over;
}
