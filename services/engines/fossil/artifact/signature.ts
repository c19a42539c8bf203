import { decodeUtf8 } from "../codec/mod.ts";

const BEGIN_PGP = "-----BEGIN PGP SIGNED MESSAGE-----";
const BEGIN_SSH = "-----BEGIN SSH SIGNED MESSAGE-----";
const END_PGP = "\n-----BEGIN PGP SIGNATURE-";
const END_SSH = "\n-----BEGIN SSH SIGNATURE-";

/**
 * The artifact inside a clear-signed text: the bytes between the first blank line and the
 * signature. Returns bytes without a PGP or SSH envelope unchanged, and those whose envelope has no
 * blank line. The signature itself is not checked, as in Fossil.
 */
export function stripSignature(bytes: Uint8Array): Uint8Array {
  const opening = decodeUtf8(bytes.subarray(0, BEGIN_PGP.length));
  if (opening !== BEGIN_PGP && opening !== BEGIN_SSH) return bytes;
  const start = afterBlankLine(bytes, BEGIN_PGP.length);
  if (start < 0) return bytes;
  const body = bytes.subarray(start);
  const text = latin1(body);
  const end = Math.max(text.lastIndexOf(END_PGP), text.lastIndexOf(END_SSH));
  return end < 0 ? body : body.subarray(0, end + 1);
}

/** Position behind the first blank line at or after `from`, or -1. */
function afterBlankLine(bytes: Uint8Array, from: number): number {
  for (let i = bytes.indexOf(0x0a, from); i >= 0; i = bytes.indexOf(0x0a, i + 1)) {
    if (bytes[i + 1] === 0x0a && i + 2 < bytes.length) return i + 2;
    if (bytes[i + 1] === 0x0d && bytes[i + 2] === 0x0a && i + 3 < bytes.length) return i + 3;
  }
  return -1;
}

/** One character per byte, so that positions in the text are positions in the bytes. */
function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}
