const ENCODER = new TextEncoder();
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** UTF-8 bytes of a string; lone surrogates become U+FFFD. */
export function encodeUtf8(text: string): Uint8Array {
  return ENCODER.encode(text);
}

/** Text of UTF-8 bytes; invalid bytes become U+FFFD, a byte order mark is kept. */
export function decodeUtf8(bytes: Uint8Array): string {
  return DECODER.decode(bytes);
}

/**
 * Compares two strings in the order of their UTF-8 bytes, which is what every sorted card of an
 * artifact needs. JavaScript's own order differs if one string has a surrogate pair and the other a
 * character from U+E000 to U+FFFF.
 */
export function compareUtf8(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const a = left.charCodeAt(i);
    const b = right.charCodeAt(i);
    if (a !== b) return rankOfUnit(a) - rankOfUnit(b);
  }
  return left.length - right.length;
}

/** Moves surrogates above U+FFFF's other characters, as their four UTF-8 bytes sort. */
function rankOfUnit(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  [" ", "\\s"],
  ["\n", "\\n"],
  ["\t", "\\t"],
  ["\r", "\\r"],
  ["\v", "\\v"],
  ["\f", "\\f"],
  ["\\", "\\\\"],
  ["\0", "\\0"],
]);

const UNESCAPES: ReadonlyMap<string, string> = new Map([
  ["s", " "],
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["v", "\v"],
  ["f", "\f"],
  ["0", "\0"],
]);

const NEEDS_ESCAPE = /[ \n\t\r\v\f\\\0]/g;

/** Writes text as one token of a card: spaces, line ends, backslashes and NUL are escaped. */
export function escapeToken(text: string): string {
  return text.replace(NEEDS_ESCAPE, (character) => ESCAPES.get(character) ?? character);
}

/**
 * Reads a token of a card. An unknown escape stands for the character itself. Text in Fossil ends
 * at a NUL, so anything after an escaped NUL is dropped.
 */
export function unescapeToken(token: string): string {
  if (!token.includes("\\")) return token;
  const text = token.replace(/\\([\s\S])/g, (_, letter: string) => UNESCAPES.get(letter) ?? letter);
  const end = text.indexOf("\0");
  return end < 0 ? text : text.slice(0, end);
}

/** Escapes text for HTML as Fossil does in the comments it generates for the timeline. */
export function escapeHtml(text: string): string {
  return text.replace(/[<>&"']/g, (character) => `&${HTML_ENTITIES.get(character)};`);
}

const HTML_ENTITIES: ReadonlyMap<string, string> = new Map([
  ["<", "lt"],
  [">", "gt"],
  ["&", "amp"],
  ['"', "quot"],
  ["'", "#39"],
]);

/** The bytes of all parts, one after the other. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let position = 0;
  for (const part of parts) {
    whole.set(part, position);
    position += part.length;
  }
  return whole;
}
