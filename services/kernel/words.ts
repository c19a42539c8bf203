/** A number with its noun: `1 branch`, `2 branches`. */
export function amount(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

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

/** Millionths of a US dollar as dollars, with two digits after the point, or as many as it needs. */
export function dollars(millionths: number): string {
  const text = (millionths / 1_000_000).toFixed(6);
  return text.replace(/0{1,4}$/, "");
}

/** What a person sees of a text. */

/**
 * Characters that show nothing: spaces, controls, those that Unicode lets every font leave out, such
 * as U+200D, and the blank of Braille.
 */
const SHOWS = /[^\s\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a person sees something of a text, so that it can be a name or a title. */
export function isVisible(text: string): boolean {
  return SHOWS.test(text);
}
