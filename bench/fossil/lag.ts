import { delay } from "../delay.ts";
import { percentile } from "../statistics.ts";

/** Between two looks at the clock, in milliseconds. */
const INTERVAL_MS = 1;

/** How late a timer of this thread was, again and again. */
export class Lag {
  readonly #delays: number[] = [];

  /**
   * Watches the event loop of this thread while work goes on.
   *
   * @param work is started, and looked at until it is over
   */
  async watch(work: () => Promise<void>): Promise<void> {
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        const startedAt = performance.now();
        await delay(INTERVAL_MS);
        this.#delays.push(Math.max(0, performance.now() - startedAt - INTERVAL_MS));
      }
    })();
    try {
      await work();
    } finally {
      isOver = true;
      await watching;
    }
  }

  /** The 99.9th percentile of how late the timer was, in milliseconds. */
  get late(): number {
    return percentile(Float32Array.from(this.#delays), 0.999);
  }
}
