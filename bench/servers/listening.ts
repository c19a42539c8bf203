import { delay } from "../delay.ts";

/** Time limit for a server to listen, in milliseconds. */
const START_LIMIT = 10_000;

const POLL_MILLISECONDS = 20;

/**
 * Waits until a server listens on an address.
 *
 * @throws the runtime's error if nothing listens after a while
 */
export async function untilListening(address: Deno.ConnectOptions): Promise<void> {
  for (let waited = 0;; waited += POLL_MILLISECONDS) {
    try {
      return (await Deno.connect(address)).close();
    } catch (error) {
      if (waited >= START_LIMIT) throw error;
      await delay(POLL_MILLISECONDS);
    }
  }
}
