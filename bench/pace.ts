import type { Ledger } from "./client/mod.ts";
import { delay } from "./parallel.ts";

/** Windows under way: the next is sent while the previous one is being delivered. */
const WINDOWS_UNDER_WAY = 2;

/** Duration of a round at a fixed rate, in seconds. */
export const PACED_SECONDS = 2;

export interface Windows {
  readonly count: number;
  readonly deliveriesEach: number;
  /** Sends all messages of a window. */
  send(window: number): Promise<void>;
}

/**
 * Sends as fast as the server delivers: a closed loop, so that no queue of the server overflows.
 * Resolves when everything is delivered.
 */
export async function sendInWindows(ledger: Ledger, windows: Windows): Promise<void> {
  for (let window = 0; window < windows.count; window++) {
    await windows.send(window);
    await ledger.reached((window + 1 - WINDOWS_UNDER_WAY) * windows.deliveriesEach);
  }
  await ledger.reached(windows.count * windows.deliveriesEach);
}

/** Sends a number of messages at a fixed rate, however long each takes. */
export async function sendAtRate(
  perSecond: number,
  count: number,
  send: (index: number) => Promise<void>,
): Promise<void> {
  await sendAtRateWhile(perSecond, (index) => index < count, send);
}

/**
 * Sends at a fixed rate, as long as there is to be a message with the next index; returns their
 * count.
 */
export async function sendAtRateWhile(
  perSecond: number,
  wanted: (index: number) => boolean,
  send: (index: number) => Promise<void>,
): Promise<number> {
  const startedAt = performance.now();
  const sending: Promise<void>[] = [];
  for (let index = 0; wanted(index); index++) {
    await delay(startedAt + index * 1000 / perSecond - performance.now());
    const sent = send(index);
    // It is awaited below, but may fail earlier.
    sent.catch(() => {});
    sending.push(sent);
  }
  await Promise.all(sending);
  return sending.length;
}
