import { delay } from "../delay.ts";
import { percentile } from "../statistics.ts";

/** Time between two readings of the clock, in milliseconds. */
const INTERVAL_MS = 1;

/** Measures repeatedly how late a timer of this thread is. */
export class Lag {
  readonly #delays: number[] = [];

  /**
   * Watches the event loop of this thread while work goes on.
   *
   * @param work is started and watched until its end
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
