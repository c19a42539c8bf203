import { Invalid, TooLarge } from "../errors.ts";

/** Longest text of one post, in bytes of UTF-8. */
const MAX_TEXT_BYTES = 65_536;
/** Most lines of one post. */
const MAX_LINES = 100;

/** The control characters that a post may contain: tab, and IRC formatting. */
const FORMATTING = new Set("\t\x02\x03\x04\x0f\x11\x16\x1d\x1e\x1f");

/** Printable ASCII. */
const PRINTABLE = /^[ -~]*$/;

/** All other white space of Unicode is ordinary text. */
const BLANK = /^[ \t]*$/;

const encoder = new TextEncoder();

/** Bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  return PRINTABLE.test(text) ? text.length : encoder.encode(text).length;
}

/** Whether a text has at most so many bytes in UTF-8. */
export function fitsInto(room: number, text: string): boolean {
  // A UTF-16 unit takes at most three bytes.
  return text.length * 3 <= room || (text.length <= room && byteLength(text) <= room);
}

/**
 * Splits the text of a post into lines, without blank ones.
 *
 * @throws TooLarge if it exceeds 64 KiB or 100 lines
 * @throws Invalid if it is blank, or contains a control character or half a surrogate pair
 */
export function linesOf(text: string): string[] {
  if (!fitsInto(MAX_TEXT_BYTES, text)) {
    throw new TooLarge(`"text" must have at most ${MAX_TEXT_BYTES} bytes`);
  }
  if (PRINTABLE.test(text) && !BLANK.test(text)) return [text];
  const lines = text.replace(/\r?\n$/, "").split(/\r?\n/);
  if (lines.length > MAX_LINES) {
    throw new TooLarge(`"text" must have at most ${MAX_LINES} lines`);
  }
  if (!text.isWellFormed()) {
    throw new Invalid('"text" must be well-formed Unicode: it has half of a surrogate pair');
  }
  if (!lines.every(isPlain)) {
    throw new Invalid(
      '"text" must not contain control characters other than tab and IRC formatting',
    );
  }
  const filled = lines.filter((line) => !BLANK.test(line));
  if (filled.length === 0) throw new Invalid('"text" must not be empty');
  return filled;
}

function isPlain(line: string): boolean {
  if (PRINTABLE.test(line)) return true;
  for (const [character] of line.matchAll(/\p{Cc}/gu)) {
    if (!FORMATTING.has(character)) return false;
  }
  return true;
}

/**
 * Cuts a line into pieces of at most `room` bytes of UTF-8: at the last space that fits, which is
 * dropped, or inside a word that is longer than a piece, but never inside a character.
 *
 * @param room at least 4, the longest character
 */
export function splitLine(line: string, room: number): string[] {
  if (fitsInto(room, line)) return [line];
  const pieces: string[] = [];
  const piece = new Uint8Array(room);
  let rest = line;
  for (;;) {
    const { read } = encoder.encodeInto(rest, piece);
    if (read === rest.length) break;
    const space = rest.lastIndexOf(" ", read);
    pieces.push(rest.slice(0, space > 0 ? space : read));
    rest = rest.slice(space > 0 ? space + 1 : read);
  }
  if (rest !== "" || pieces.length === 0) pieces.push(rest);
  return pieces;
}
