import { constants, deflateRawSync } from "node:zlib";
import { crc32 } from "./zip.ts";

/** Bytes packed at once. */
const CHUNK = 256 * 1024;

/**
 * Packs a stream as one gzip member (RFC 1952) in bounded memory: each piece is packed separately
 * and ends on a whole byte, so that together they form one deflate stream. The header has no file
 * name and no time, so that the same bytes give the same archive.
 */
export function* gzip(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);
  const buffer = new Uint8Array(CHUNK);
  let [used, total, crc] = [0, 0, 0];
  for (const chunk of chunks) {
    crc = crc32(chunk, crc);
    total += chunk.length;
    for (let start = 0; start < chunk.length;) {
      const part = chunk.subarray(start, start + CHUNK - used);
      buffer.set(part, used);
      used += part.length;
      start += part.length;
      if (used < CHUNK) continue;
      yield pack(buffer, constants.Z_SYNC_FLUSH);
      used = 0;
    }
  }
  yield pack(buffer.subarray(0, used), constants.Z_FINISH);
  const trailer = new DataView(new ArrayBuffer(8));
  trailer.setUint32(0, crc, true);
  trailer.setUint32(4, total >>> 0, true);
  yield new Uint8Array(trailer.buffer);
}

function pack(bytes: Uint8Array, finishFlush: number): Uint8Array {
  const packed = deflateRawSync(bytes, { finishFlush });
  return new Uint8Array(packed.buffer, packed.byteOffset, packed.length);
}
