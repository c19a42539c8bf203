import { untilMultiple } from "../scheduler.ts";

/** How often the delay is measured, in milliseconds: at its multiples, together with other timers. */
const INTERVAL = 1000;

/**
 * Measures how late timers run, which is how long any other due task must wait.
 *
 * @param observe receives each delay, in seconds
 * @returns a function that ends it
 */
export function watchEventLoop(observe: (seconds: number) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = () => {
    const milliseconds = untilMultiple(INTERVAL, Date.now());
    const due = performance.now() + milliseconds;
    timer = setTimeout(() => {
      observe(Math.max(0, performance.now() - due) / 1000);
      wait();
    }, milliseconds);
    Deno.unrefTimer(timer);
  };
  wait();
  return () => clearTimeout(timer);
}
