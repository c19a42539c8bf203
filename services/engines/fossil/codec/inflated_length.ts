/**
 * How many bytes a zlib stream inflates to, without inflating it. Deno 2.4.2 ignores the limit of
 * `inflateSync`: a stream of a megabyte could take a gigabyte of memory before its length is known.
 * Decodes only as much of RFC 1951 as counting needs.
 */

/** Thrown if the stream is malformed. */
export class InflateError extends Error {
  override readonly name = "InflateError";
}

const ZLIB_HEADER_BYTES = 2;
const MAX_CODE_BITS = 15;
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

/** Bits of a stream, lowest first. After its end come zeros, and soon an error. */
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
      if (this.#position > this.#bytes.length + 4) throw new InflateError("Stream is cut short");
      this.#bits |= (this.#bytes[this.#position++] ?? 0) << this.#count;
      this.#count += 8;
    }
    return this.#bits & ((1 << count) - 1);
  }

  skip(count: number): void {
    this.#bits >>>= count;
    this.#count -= count;
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
    return length;
  }
}

/** A Huffman code as one table, indexed by the next 15 bits. */
class HuffmanCode {
  readonly #table = new Uint16Array(1 << MAX_CODE_BITS);

  /** @param lengths bits of each symbol's code, 0 if it has none. */
  constructor(lengths: readonly number[]) {
    let code = 0;
    for (let bits = 1; bits <= MAX_CODE_BITS; bits++) {
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
    const entry = this.#table[reader.peek(MAX_CODE_BITS)]!;
    if (entry === 0) throw new InflateError("Code is unknown");
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
 * Length of what a zlib stream inflates to; counting stops above `limit`.
 *
 * @throws {InflateError} The stream is malformed.
 */
export function inflatedLength(stream: Uint8Array, limit: number): number {
  const reader = new BitReader(stream, ZLIB_HEADER_BYTES);
  let length = 0;
  for (let isLast = false; !isLast && length <= limit;) {
    isLast = reader.take(1) === 1;
    const type = reader.take(2);
    if (type === 3) throw new InflateError("Block has an unknown type");
    if (type === 0) length += reader.skipStored();
    else {length += blockLength(
        reader,
        type === 1 ? fixedCodes() : dynamicCodes(reader),
        limit - length,
      );}
  }
  return length;
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
