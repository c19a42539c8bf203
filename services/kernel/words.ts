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

/**
 * Characters that show nothing: spaces, controls, those that Unicode lets every font leave out, such
 * as U+200D, and the blank of Braille.
 */
const SHOWS = /[^\s\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a person sees something of a text, so that it can be a name or a title. */
export function isVisible(text: string): boolean {
  return SHOWS.test(text);
}

/**
 * Characters by which one line of text passes for another: controls, separators of lines, overrides
 * of the direction of text (Unicode TR 36), and characters without width that join nothing. Emoji
 * and Persian need U+200C and U+200D, and Hebrew the marks U+200E and U+200F.
 */
export const FORGING =
  "\\u0000-\\u001f\\u007f-\\u009f\\u200b\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb";

const FORGES = new RegExp(`[${FORGING}]`);

/** Whether a text is one line wherever it is shown: on a page, in a mail, on IRC. */
export function isLine(text: string): boolean {
  return !FORGES.test(text);
}

const ALL_FORGING = new RegExp(`[${FORGING}]`, "g");

/** A text as one line: spaces stand for what {@linkcode isLine} refuses. */
export function asLine(text: string): string {
  return isLine(text) ? text : text.replace(ALL_FORGING, " ").trim();
}
