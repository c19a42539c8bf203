/** From so many seconds on, a wait is given in minutes. */
const LONG = 90;

/**
 * How long to wait, as a person says it: `12 seconds`, `15 minutes`.
 *
 * @param seconds at least 0; minutes are rounded up
 */
export function waitInWords(seconds: number): string {
  if (seconds === 1) return "1 second";
  return seconds < LONG ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}
