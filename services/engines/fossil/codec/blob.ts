import { inflateSync } from "node:zlib";
import { compressedIfWorthwhile } from "../../../kernel/compression.ts";
import { FossilError } from "../error.ts";
import { INFLATE_KEEPS_LIMIT, InflateError, zlibExtent } from "../../../kernel/zlib_extent.ts";

/** Largest artifact the engine reads or writes, in bytes. */
export const MAX_ARTIFACT_BYTES = 256 * 1024 * 1024;

const HEADER_BYTES = 4;

/** Packs bytes as `blob.content` has them: the length (4 bytes, big endian), then zlib. */
export function packBlob(content: Uint8Array): Uint8Array {
  if (content.length > MAX_ARTIFACT_BYTES) {
    throw new FossilError("limit", `Artifact of ${content.length} bytes is too large`);
  }
  const compressed = compressedIfWorthwhile(content);
  const packed = new Uint8Array(HEADER_BYTES + compressed.length);
  new DataView(packed.buffer).setUint32(0, content.length);
  packed.set(compressed, HEADER_BYTES);
  return packed;
}

/** The length that packed bytes declare: of a full text, or of a delta. */
export function packedLength(packed: Uint8Array): number {
  if (packed.length < HEADER_BYTES) return 0;
  return new DataView(packed.buffer, packed.byteOffset, packed.byteLength).getUint32(0);
}

/**
 * Unpacks `blob.content`. Checks the declared length before it inflates anything, so that a false
 * length costs no memory.
 *
 * @throws {FossilError} `limit` if the declared length is over `maxBytes`; `corrupt` if the bytes
 * are not a zlib stream, or inflate to another length.
 */
export function unpackBlob(packed: Uint8Array, maxBytes = MAX_ARTIFACT_BYTES): Uint8Array {
  return unpack(packed, maxBytes, MAX_STORED_EXCESS);
}

/** Like `unpackBlob`, for what a stranger sends: a false length costs at most a megabyte. */
export function unpackSent(packed: Uint8Array, maxBytes = MAX_ARTIFACT_BYTES): Uint8Array {
  return unpack(packed, maxBytes, MAX_SENT_EXCESS);
}

function unpack(packed: Uint8Array, maxBytes: number, maxExcess: number): Uint8Array {
  if (packed.length < HEADER_BYTES) throw new FossilError("corrupt", "Blob has no length");
  const declared = packedLength(packed);
  if (declared > maxBytes) {
    throw new FossilError("limit", `Blob declares ${declared} bytes, the limit is ${maxBytes}`);
  }
  if (declared === 0) return new Uint8Array(0);
  const content = inflate(packed.subarray(HEADER_BYTES), declared, maxExcess);
  if (content.length !== declared) {
    throw new FossilError(
      "corrupt",
      `Blob declares ${declared} bytes and inflates to ${content.length}`,
    );
  }
  return content;
}

/** No zlib stream inflates to more than this many times its length. */
const MAX_RATIO = 1032;
/**
 * Memory that a stream with a false length may take, in bytes: of the repository's own contents, which
 * were checked when they were stored, and of what strangers send. To count costs several times as
 * much as to inflate.
 */
const MAX_STORED_EXCESS = 256 * 1024 * 1024;
const MAX_SENT_EXCESS = 1024 * 1024;
/** Bounds of the output buffer, in bytes; zlib accepts no smaller one. */
const [MIN_CHUNK_BYTES, MAX_CHUNK_BYTES] = [64, 1024 * 1024];

function inflate(compressed: Uint8Array, maxBytes: number, maxExcess: number): Uint8Array {
  try {
    const isRisky = compressed.length * MAX_RATIO > maxBytes + maxExcess;
    if (isRisky && !INFLATE_KEEPS_LIMIT && zlibExtent(compressed, maxBytes).length > maxBytes) {
      throw new InflateError("Stream is longer than declared");
    }
    // One buffer holds everything, and one more byte to detect the end of the stream.
    const chunkSize = Math.max(MIN_CHUNK_BYTES, Math.min(maxBytes + 1, MAX_CHUNK_BYTES));
    const buffer = inflateSync(compressed, { maxOutputLength: maxBytes, chunkSize });
    return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  } catch (cause) {
    throw new FossilError("corrupt", "Blob does not inflate", { cause });
  }
}
