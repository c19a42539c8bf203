/**
 * How many bytes a zlib stream inflates to, and where it ends, without inflating it. Deno 2.4.2 ignores
 * the limit of `inflateSync`, and does not tell how much it has read: a stream of a megabyte could
 * take a gigabyte of memory before its length is known. Decodes only as much of RFC 1951 as counting
 * needs.
 */
import type { Buffer } from "node:buffer";
import { deflateSync, inflateSync } from "node:zlib";

/** Thrown if the stream is malformed, or the bytes do not have all of it. */
export class InflateError extends Error {
  override readonly name = "InflateError";
  /** Whether more bytes could make it right. */
  readonly isCutShort: boolean;

  constructor(message: string, isCutShort = false) {
    super(message);
    this.isCutShort = isCutShort;
  }
}

/** What a zlib stream inflates to, and what it takes, in bytes. */
export interface ZlibExtent {
  /** Above the limit, counting has stopped, and `end` says nothing. */
  readonly length: number;
  /** Where the stream ends, with its checksum. */
  readonly end: number;
}

const ZLIB_HEADER_BYTES = 2;
const ADLER_BYTES = 4;
/** Bounds of a buffer to inflate into, in bytes; zlib accepts no smaller one. */
const [MIN_CHUNK_BYTES, MAX_CHUNK_BYTES] = [64, 256 * 1024];
const END_OF_BLOCK = 256;
const SYMBOL_BITS = 9;
const SYMBOL_MASK = (1 << SYMBOL_BITS) - 1;

/** Order in which a block gives the lengths of the codes for code lengths. */
const LENGTH_CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/** Base and extra bits of the match lengths that symbols 257 to 285 stand for. */
const [MATCH_BASE, MATCH_BITS] = matchLengths();

function matchLengths(): [number[], number[]] {
  const bits = Array.from({ length: 28 }, (_, i) => i < 8 ? 0 : (i >> 2) - 1);
  const base: number[] = [];
  for (let i = 0, next = 3; i < bits.length; i++) {
    base.push(next);
    next += 1 << bits[i]!;
  }
  return [[...base, 258], [...bits, 0]];
}

/** Bits of a stream, lowest first. One may look beyond its end, where zeros are, but not read them. */
class BitReader {
  readonly #bytes: Uint8Array;
  #position: number;
  #bits = 0;
  #count = 0;

  constructor(bytes: Uint8Array, position: number) {
    this.#bytes = bytes;
    this.#position = position;
  }

  /** The next bits, which stay unread; at most 15. */
  peek(count: number): number {
    while (this.#count < count) {
      this.#bits |= (this.#bytes[this.#position++] ?? 0) << this.#count;
      this.#count += 8;
    }
    return this.#bits & ((1 << count) - 1);
  }

  skip(count: number): void {
    this.#bits >>>= count;
    this.#count -= count;
    if (this.end > this.#bytes.length) throw cutShort();
  }

  /** The byte after the last one of which bits were read. */
  get end(): number {
    return this.#position - (this.#count >> 3);
  }

  /** The next bits are no code: of the stream, or of what lies beyond the end of the bytes. */
  refuseCode(): never {
    if (this.#position > this.#bytes.length) throw cutShort();
    throw new InflateError("Code is unknown");
  }

  take(count: number): number {
    if (count === 0) return 0;
    const bits = this.peek(count);
    this.skip(count);
    return bits;
  }

  /** Skips a stored block, which begins at the next whole byte; returns its length. */
  skipStored(): number {
    this.skip(this.#count % 8);
    const length = this.take(8) | (this.take(8) << 8);
    const check = this.take(8) | (this.take(8) << 8);
    if ((length ^ check) !== 0xffff) throw new InflateError("Stored block is malformed");
    this.#position += length - this.#count / 8;
    [this.#bits, this.#count] = [0, 0];
    this.skip(0);
    return length;
  }
}

function cutShort(): InflateError {
  return new InflateError("Stream is cut short", true);
}

/** A Huffman code as one table, indexed by as many bits as its longest code has. */
class HuffmanCode {
  readonly #bits: number;
  readonly #table: Uint16Array;

  /** @param lengths bits of each symbol's code, 0 if it has none; at most 15. */
  constructor(lengths: readonly number[]) {
    this.#bits = Math.max(...lengths);
    this.#table = new Uint16Array(1 << this.#bits);
    let code = 0;
    for (let bits = 1; bits <= this.#bits; bits++) {
      for (const [symbol, length] of lengths.entries()) {
        if (length !== bits) continue;
        if (code >= 1 << bits) throw new InflateError("Code has too many symbols");
        const step = 1 << bits;
        for (let i = reversed(code, bits); i < this.#table.length; i += step) {
          this.#table[i] = (bits << SYMBOL_BITS) | symbol;
        }
        code++;
      }
      code <<= 1;
    }
  }

  read(reader: BitReader): number {
    const entry = this.#table[reader.peek(this.#bits)]!;
    if (entry === 0) reader.refuseCode();
    reader.skip(entry >> SYMBOL_BITS);
    return entry & SYMBOL_MASK;
  }
}

function reversed(code: number, bits: number): number {
  let result = 0;
  for (let i = 0; i < bits; i++) result |= ((code >> i) & 1) << (bits - 1 - i);
  return result;
}

function fixedCodes(): readonly [HuffmanCode, HuffmanCode] {
  const literals = Array.from(
    { length: 288 },
    (_, i) => i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8,
  );
  return [new HuffmanCode(literals), new HuffmanCode(new Array<number>(30).fill(5))];
}

function dynamicCodes(reader: BitReader): readonly [HuffmanCode, HuffmanCode] {
  const literalCount = reader.take(5) + 257;
  const distanceCount = reader.take(5) + 1;
  const given = reader.take(4) + 4;
  const ofLengths = new Array<number>(19).fill(0);
  for (const symbol of LENGTH_CODE_ORDER.slice(0, given)) ofLengths[symbol] = reader.take(3);
  const code = new HuffmanCode(ofLengths);
  const lengths: number[] = [];
  while (lengths.length < literalCount + distanceCount) {
    const symbol = code.read(reader);
    if (symbol < 16) lengths.push(symbol);
    else if (symbol === 16) repeat(lengths, lengths.at(-1) ?? 0, reader.take(2) + 3);
    else repeat(lengths, 0, symbol === 17 ? reader.take(3) + 3 : reader.take(7) + 11);
  }
  const literals = new HuffmanCode(lengths.slice(0, literalCount));
  return [literals, new HuffmanCode(lengths.slice(literalCount, literalCount + distanceCount))];
}

function repeat(lengths: number[], length: number, times: number): void {
  for (let i = 0; i < times; i++) lengths.push(length);
}

/**
 * Measures a zlib stream at the beginning of bytes; counting stops above `limit`.
 *
 * @throws {InflateError} The stream is malformed, or is longer than the bytes.
 */
export function zlibExtent(bytes: Uint8Array, limit: number): ZlibExtent {
  const reader = new BitReader(bytes, ZLIB_HEADER_BYTES);
  let length = 0;
  for (let isLast = false; !isLast && length <= limit;) {
    isLast = reader.take(1) === 1;
    const type = reader.take(2);
    if (type === 3) throw new InflateError("Block has an unknown type");
    if (type === 0) length += reader.skipStored();
    else {
      const codes = type === 1 ? fixedCodes() : dynamicCodes(reader);
      length += blockLength(reader, codes, limit - length);
    }
  }
  const end = reader.end + ADLER_BYTES;
  if (length <= limit && end > bytes.length) throw cutShort();
  return { length, end };
}

/** Whether `inflateSync` keeps its limit: Deno 2.4.2 does not. */
export const INFLATE_KEEPS_LIMIT: boolean = inflateKeepsLimit();

/** Tries it, which takes 0.3 ms. */
function inflateKeepsLimit(): boolean {
  try {
    inflateSync(deflateSync(new Uint8Array(64)), { maxOutputLength: 1 });
    return false;
  } catch {
    return true;
  }
}

/** What the first zlib stream of some bytes inflates to, and where it ends. */
export interface FirstInflated {
  readonly content: Buffer;
  readonly end: number;
}

/**
 * Inflates the zlib stream at the beginning of bytes.
 *
 * @param limit the most bytes that it may inflate to
 * @param isMeasured whether it is measured before, as it must be where `inflateSync` neither keeps its
 * limit nor tells how much it has read
 * @returns null if it inflates to more than the limit
 * @throws {InflateError} The stream is malformed, or is longer than the bytes.
 */
export function inflateFirst(
  bytes: Uint8Array,
  limit: number,
  isMeasured: boolean,
): FirstInflated | null {
  // One buffer holds everything, and one more byte to detect the end of the stream.
  const chunkSize = Math.max(MIN_CHUNK_BYTES, Math.min(limit + 1, MAX_CHUNK_BYTES));
  const options = { maxOutputLength: Math.max(1, limit), chunkSize };
  try {
    if (isMeasured) {
      const { length, end } = zlibExtent(bytes, limit);
      if (length > limit) return null;
      return { content: inflateSync(bytes.subarray(0, end), options), end };
    }
    const { buffer, engine } = inflateSync(bytes, { ...options, info: true }) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    return buffer.length > limit ? null : { content: buffer, end: engine.bytesWritten };
  } catch (error) {
    if (error instanceof InflateError) throw error;
    const { code, message } = error as { readonly code?: string; readonly message: string };
    if (code === "ERR_BUFFER_TOO_LARGE") return null;
    throw new InflateError(message, code === "Z_BUF_ERROR");
  }
}

function blockLength(
  reader: BitReader,
  [literals, distances]: readonly [HuffmanCode, HuffmanCode],
  limit: number,
): number {
  let length = 0;
  while (length <= limit) {
    const symbol = literals.read(reader);
    if (symbol === END_OF_BLOCK) break;
    if (symbol < END_OF_BLOCK) {
      length++;
      continue;
    }
    const index = symbol - END_OF_BLOCK - 1;
    length += (MATCH_BASE[index] ?? 0) + reader.take(MATCH_BITS[index] ?? 0);
    const distance = distances.read(reader);
    reader.take(distance < 4 ? 0 : (distance >> 1) - 1);
  }
  return length;
}
