/** From so many of a unit on, a wait is given in the next one. */
const LONG = 90;

/**
 * How long to wait, as a person says it: `12 seconds`, `15 minutes`, `2.5 hours`.
 *
 * @param seconds at least 0; minutes are rounded up, and hours to a tenth
 */
export function waitInWords(seconds: number): string {
  if (seconds === 1) return "1 second";
  if (seconds < LONG) return `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes <= LONG ? `${minutes} minutes` : `${Math.round(seconds / 360) / 10} hours`;
}
