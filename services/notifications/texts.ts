/** Texts of notifications and of channels' lines: one line, bounded, without control characters. */

/** Characters of a title or of a comment in a text. */
const MAX_TITLE = 80;
const MAX_EXCERPT = 240;

/** Paths that a text names. */
const MAX_PATHS = 3;

/**
 * Control and formatting characters, and those that change the direction of a text or are not seen.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]+/gu;

/** A text in one line, without what could act on a terminal or an IRC client, cut to a length. */
export function oneLine(text: string, length: number): string {
  // A few characters more than shown, so that a long text costs no more than a short one.
  const line = text.slice(0, length * 4).replace(UNSAFE, " ").replace(/\s+/g, " ").trim();
  const characters = [...line];
  return characters.length <= length ? line : `${characters.slice(0, length - 1).join("")}…`;
}

/** What somebody wrote, as a part of a text; nothing for nothing. */
export function excerpt(text: string): string {
  const line = oneLine(text, MAX_EXCERPT);
  return line === "" ? "" : `: ${line}`;
}

/** A title in quotation marks with a space before it; nothing for nothing. */
export function quoted(title: string): string {
  const line = oneLine(title, MAX_TITLE);
  return line === "" ? "" : ` “${line}”`;
}

/** The start of a hash, long enough for people. */
export function short(hash: string): string {
  return hash.slice(0, 10);
}

/** Up to three paths, and how many more there are. */
export function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, MAX_PATHS).map((path) => oneLine(path, MAX_TITLE)).join(", ");
  const more = paths.length - MAX_PATHS;
  return more > 0 ? `${shown} and ${more} more` : shown;
}
