/** How often it is looked, in milliseconds. */
const INTERVAL = 500;

/**
 * Watches how much later than due a timer is called, which is how long anything else that becomes
 * due must wait.
 *
 * @param observe gets each delay, in seconds
 * @returns a function that ends it
 */
export function watchEventLoop(observe: (seconds: number) => void): () => void {
  let due = performance.now() + INTERVAL;
  const timer = setInterval(() => {
    const now = performance.now();
    observe(Math.max(0, now - due) / 1000);
    due = now + INTERVAL;
  }, INTERVAL);
  Deno.unrefTimer(timer);
  return () => clearInterval(timer);
}
