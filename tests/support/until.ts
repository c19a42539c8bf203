/**
 * How long a test waits for what must come, in milliseconds: a bound for when it never comes, wide
 * enough for a machine that does much else.
 */
export const WAIT_LIMIT = 60_000;

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
