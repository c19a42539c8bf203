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
