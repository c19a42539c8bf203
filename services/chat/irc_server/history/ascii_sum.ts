/** The polynomial of CRC-32, as zlib has it. */
const POLYNOMIAL = 0xedb88320;

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1;
  return sum;
});

/**
 * Encodes a text of ASCII, and computes the CRC-32 of its bytes on the way. For a short text that
 * takes less than two calls into the runtime.
 *
 * @param bytes get the text
 * @returns the sum, or null for any other text
 */
export function encodeAscii(text: string, bytes: Uint8Array): number | null {
  let sum = -1;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return null;
    bytes[index] = code;
    sum = (TABLE[(sum ^ code) & 0xff] ?? 0) ^ (sum >>> 8);
  }
  return ~sum >>> 0;
}
