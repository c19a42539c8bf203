/** Texts as parts of lines, and their length in UTF-8. */

const encoder = new TextEncoder();

/** Minimum length of a piece of a split text, even if the head of the line is long. */
const LEAST_PIECE_BYTES = 64;

const LINE_BREAK = /[\0\r\n]/;
const NON_ASCII = /[\x80-\uffff]/;
const BEYOND_ASCII_LINE = /[\0\r\n\x80-\uffff]/;
const CTCP_DELIMITER = "\x01";
const CTCP_ACTION = "\x01ACTION ";

/** Whether a text is within one line, and has as many bytes as characters. */
export function isAsciiLine(text: string): boolean {
  return !BEYOND_ASCII_LINE.test(text);
}

/** No text from the embedding program, such as a reason, may become a second message. */
export function oneLine(text: string): string {
  return LINE_BREAK.test(text) ? text.replaceAll(/[\0\r\n]/g, " ") : text;
}

/**
 * Cuts a text into pieces of at most `room` bytes of UTF-8, at a space if the last third of a piece
 * has one, and never inside a character. Each piece of an ACTION is an ACTION.
 */
export function splitText(text: string, room: number): string[] {
  if (text.length * 3 <= room || encodedLength(text) <= room) return [text];
  if (text.startsWith(CTCP_ACTION)) {
    const spoken = text.slice(CTCP_ACTION.length).replaceAll(CTCP_DELIMITER, "");
    const pieces = splitText(spoken, room - CTCP_ACTION.length - CTCP_DELIMITER.length);
    return pieces.map((piece) => `${CTCP_ACTION}${piece}${CTCP_DELIMITER}`);
  }
  const pieces: string[] = [];
  const piece = new Uint8Array(Math.max(room, LEAST_PIECE_BYTES));
  let rest = text;
  while (encodedLength(rest) > piece.length) {
    const { read } = encoder.encodeInto(rest, piece);
    const space = rest.lastIndexOf(" ", read);
    const end = space > (read * 2) / 3 ? space : read;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end === space ? end + 1 : end);
  }
  if (rest !== "") pieces.push(rest);
  return pieces;
}

/** The beginning of a text that has at most this many bytes of UTF-8, cut between characters. */
export function truncate(text: string, bytes: number): string {
  if (text.length * 3 <= bytes || encodedLength(text) <= bytes) return text;
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(Math.max(bytes, 0))).read);
}

/** Bytes of a text in UTF-8. */
export function encodedLength(text: string): number {
  if (!NON_ASCII.test(text)) return text.length;
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // Each half of a surrogate pair counts for two of the pair's four bytes.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

/**
 * Short ways for texts of plain ASCII, as most of those are that people and programs send. On a
 * server at rest, the runtime's own functions take several times as long.
 */

/** Texts up to this length may be decoded without the runtime. */
const SHORT_BYTES = 512;

/**
 * Decodes a short text of ASCII. Null if it is not one.
 */
export function shortAscii(bytes: Uint8Array): string | null {
  if (bytes.length > SHORT_BYTES) return null;
  for (let index = 0; index < bytes.length; index++) {
    if ((bytes[index] ?? 0) > 0x7f) return null;
  }
  // A spread would make an iterator's result for each byte.
  return Reflect.apply(String.fromCharCode, null, bytes);
}

/** Text of ASCII that JSON writes without an escape. */
const UNESCAPED = /^[ !#-[\]-~]*$/;

/** Whether a text is of ASCII and needs no escape in JSON. */
export function isUnescaped(text: string): boolean {
  return UNESCAPED.test(text);
}

/** A text as JSON, as `JSON.stringify` writes it. */
export function jsonString(text: string): string {
  return isUnescaped(text) ? `"${text}"` : JSON.stringify(text);
}
