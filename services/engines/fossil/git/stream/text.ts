/**
 * Text of Git, which is bytes: mostly UTF-8, but nothing forces it to be. In a decoded line, each
 * byte that is not part of UTF-8 is a lone surrogate, U+DC80 to U+DCFF, so that two names that
 * differ stay different, and the bytes come back.
 */
import { decodeUtf8, encodeUtf8, joinBytes } from "../../codec/mod.ts";

/** Added to a byte that is not UTF-8. */
const STRAY = 0xdc00;

/** Text that {@link encodeText} turns into the same bytes. */
export function decodeText(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (!text.includes("\ufffd")) return text;
  const parts: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = sequenceAt(bytes, at);
    if (length === 0) parts.push(String.fromCharCode(STRAY + bytes[at++]!));
    else {
      parts.push(decodeUtf8(bytes.subarray(at, at + length)));
      at += length;
    }
  }
  return parts.join("");
}

/** The bytes of a decoded text. */
export function encodeText(text: string): Uint8Array {
  if (text.isWellFormed()) return encodeUtf8(text);
  const parts = text.split(/([\udc80-\udcff])/u);
  return joinBytes(
    parts.map((part, i) =>
      i % 2 === 0 ? encodeUtf8(part) : Uint8Array.of(part.charCodeAt(0) - STRAY)
    ),
  );
}

/** The text as people read it: its stray bytes are taken for Windows-1252, as old tools wrote. */
export function readable(text: string): string {
  if (text.isWellFormed()) return text;
  return text.replace(/[\udc80-\udcff]/gu, (stray) => {
    const byte = Uint8Array.of(stray.charCodeAt(0) - STRAY);
    return new TextDecoder("windows-1252").decode(byte);
  }).toWellFormed();
}

/** Length of the UTF-8 sequence at a place; 0 if there is none. */
function sequenceAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!;
  const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length < 2) return length;
  if (first > 0xf4 || at + length > bytes.length) return 0;
  // The second byte excludes overlong sequences, surrogates and what is beyond Unicode.
  const [least, most] = SECOND[first] ?? [0x80, 0xbf];
  if (bytes[at + 1]! < least || bytes[at + 1]! > most) return 0;
  for (let i = 2; i < length; i++) {
    if ((bytes[at + i]! & 0xc0) !== 0x80) return 0;
  }
  return length;
}

/** Range of the second byte after some first bytes. */
const SECOND: Readonly<Record<number, readonly [number, number]>> = {
  0xe0: [0xa0, 0xbf],
  0xed: [0x80, 0x9f],
  0xf0: [0x90, 0xbf],
  0xf4: [0x80, 0x8f],
};
