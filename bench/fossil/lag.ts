import { delay } from "../delay.ts";
import { percentile } from "../statistics.ts";

/** Between two looks at the clock, in milliseconds. */
const INTERVAL_MS = 1;

/**
 * How late the event loop of this thread is while work goes on.
 *
 * @param work is started, and looked at until it is over
 * @returns the 99.9th percentile of the delays of a timer, in milliseconds
 */
export async function eventLoopLag(work: () => Promise<void>): Promise<number> {
  const delays: number[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      await delay(INTERVAL_MS);
      delays.push(Math.max(0, performance.now() - startedAt - INTERVAL_MS));
    }
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await watching;
  }
  return percentile(Float32Array.from(delays), 0.999);
}
