/** Texts for notifications and lines in channels: one line, bounded, without control characters. */

/** Most characters of a title or a comment in a text. */
const MAX_TITLE = 80;
const MAX_EXCERPT = 240;

/** Most paths in a text. */
const MAX_PATHS = 3;

/**
 * Control and formatting characters, invisible ones, and those that change the direction of a text.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]+/gu;

/** A text on one line, truncated, without characters that act on a terminal or an IRC client. */
export function oneLine(text: string, length: number): string {
  // Reads only a few more characters than it shows, so that a long text costs no more than a short
  // one.
  const line = text.slice(0, length * 4).replace(UNSAFE, " ").replace(/\s+/g, " ").trim();
  const characters = [...line];
  return characters.length <= length ? line : `${characters.slice(0, length - 1).join("")}…`;
}

/** A person's words as a part of a text; empty if there are none. */
export function excerpt(text: string): string {
  const line = oneLine(text, MAX_EXCERPT);
  return line === "" ? "" : `: ${line}`;
}

/** A title in quotation marks after a space; empty if there is none. */
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
