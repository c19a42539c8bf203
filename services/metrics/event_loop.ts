/** How often the delay is measured, in milliseconds. */
const INTERVAL = 500;

/**
 * Measures how late timers run, which is how long any other due task must wait.
 *
 * @param observe receives each delay, in seconds
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
