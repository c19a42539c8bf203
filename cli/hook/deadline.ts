/** How long a hook may wait, so that the client waits for the whole process at most 200 ms. */

/** Milliseconds after the start of the process at which the wait ends; the rest is for its end. */
const DEADLINE = 165;

/**
 * Milliseconds from the start of the process to that of the runtime's clock, on an idle machine. A
 * program without all permissions cannot ask the system when its process began.
 */
const BEFORE_CLOCK = 60;

/**
 * How many times longer the start before the clock takes than the start after it. Load delays both,
 * so a late hook was late before its clock began too.
 */
const RATIO = 3;

/** The shortest wait in milliseconds: an answer of a server on this machine takes less. */
const MIN_WAIT = 20;

/**
 * Milliseconds that are left to wait for the server.
 *
 * @param ready how long the runtime's clock had run when the program was ready
 * @param now how long it has run
 */
export function timeLeft(ready: number, now: number): number {
  const before = Math.max(BEFORE_CLOCK, RATIO * ready);
  return Math.max(MIN_WAIT, DEADLINE - before - now);
}
