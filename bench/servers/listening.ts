import { delay } from "../delay.ts";

/** How long a server may take to listen, in milliseconds. */
const START_LIMIT = 10_000;

const POLL_MILLISECONDS = 20;

/**
 * Waits until somebody listens at an address.
 *
 * @throws what the runtime throws if nobody does after a while
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
