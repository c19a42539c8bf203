/** Attempts, while the server is away. */
import { pause } from "../../services/kernel/pause.ts";
import { Away } from "./server.ts";

const FIRST_MS = 250;
const LONGEST_MS = 15_000;

/** Pauses that grow, up to a bound, and vary, so that runners do not come back together. */
export class Pauses {
  #next = FIRST_MS;

  /** Waits a little longer each time. @throws the signal's reason */
  async wait(signal: AbortSignal): Promise<void> {
    const ms = this.#next * (0.5 + Math.random() / 2);
    this.#next = Math.min(this.#next * 2, LONGEST_MS);
    await pause(ms, signal);
    signal.throwIfAborted();
  }

  reset(): void {
    this.#next = FIRST_MS;
  }
}

/** Tries again as long as the server is away. @throws the signal's reason, and any other error */
export async function untilThere<T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  const pauses = new Pauses();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Away)) throw error;
    }
    await pauses.wait(signal);
  }
}
