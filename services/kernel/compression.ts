/** Zlib streams of mostly short contents: for these, the compressor's memory costs most. */
import { deflateSync } from "node:zlib";

/** For contents of at most so many bytes, little memory is enough. */
const SHORT_BYTES = 1024;
const SHORT = { windowBits: 10, memLevel: 3, chunkSize: SHORT_BYTES };
/** So few bytes stay as they are: they would gain little. */
const SHORTEST_BYTES = 200;
/** Bytes of a zlib stream around them: its header, a block of RFC 1951, and the checksum. */
const [HEAD, CHECKSUM_BYTES] = [[0x78, 0x01, 0x01], 4];
const HEAD_BYTES = HEAD.length + 4;

/** Compresses bytes. */
export function compressed(content: Uint8Array): Uint8Array {
  return content.length <= SHORT_BYTES ? deflateSync(content, SHORT) : deflateSync(content);
}

/** The same, but the shortest ones not at all. */
export function compressedIfWorthwhile(content: Uint8Array): Uint8Array {
  return content.length <= SHORTEST_BYTES ? stored(content) : compressed(content);
}

/** Compresses a delta, which others may wait for: quickly, and the shortest ones not at all. */
export function compressedDelta(delta: Uint8Array): Uint8Array {
  if (delta.length <= SHORTEST_BYTES) return stored(delta);
  return deflateSync(delta, delta.length <= SHORT_BYTES ? { ...SHORT, level: 1 } : { level: 1 });
}

/** A zlib stream that holds bytes as they are. */
function stored(content: Uint8Array): Uint8Array {
  const { length } = content;
  const stream = new Uint8Array(HEAD_BYTES + length + CHECKSUM_BYTES);
  stream.set(HEAD);
  const view = new DataView(stream.buffer);
  view.setUint16(HEAD.length, length, true);
  view.setUint16(HEAD.length + 2, ~length, true);
  stream.set(content, HEAD_BYTES);
  let [one, two] = [1, 0];
  for (const byte of content) {
    one += byte;
    two += one;
  }
  view.setUint32(HEAD_BYTES + length, (two % 65_521) * 0x10000 + one % 65_521);
  return stream;
}
