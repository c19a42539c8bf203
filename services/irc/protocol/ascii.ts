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
