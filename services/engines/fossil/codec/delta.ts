/**
 * Fossil's delta format: the length of the target, then copies from the source (`COUNT@OFFSET,`)
 * and literal text (`COUNT:TEXT`), then a checksum of the target (`SUM;`). Numbers are base 64.
 *
 * @see {@link https://fossil-scm.org/home/doc/trunk/www/delta_format.wiki}
 */
import { Buffer } from "node:buffer";
import { FossilError } from "../error.ts";
import { MAX_ARTIFACT_BYTES } from "./blob.ts";

const DIGITS = new TextEncoder().encode(
  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~",
);
const DIGIT_VALUES = digitValues();

/** From so many bytes on, native code compares faster. */
const MIN_COMPARED = 256;
/** Bytes in the window by which matches are found; part of what makes our output Fossil's. */
const WINDOW = 16;
/** Candidates tried per position, as in Fossil. */
const MAX_CANDIDATES = 250;

const NEWLINE = 0x0a;
const COMMA = 0x2c;
const COLON = 0x3a;
const SEMICOLON = 0x3b;
const AT = 0x40;

function digitValues(): Int8Array {
  const values = new Int8Array(256).fill(-1);
  DIGITS.forEach((digit, value) => values[digit] = value);
  return values;
}

/** The sum of a byte string as big endian 32-bit words, modulo 2^32. */
export function checksum(bytes: Uint8Array): number {
  const words = bytes.length & ~3;
  let [first, second, third, fourth] = [0, 0, 0, 0];
  for (let i = 0; i < words; i += 4) {
    first = (first + bytes[i]!) | 0;
    second = (second + bytes[i + 1]!) | 0;
    third = (third + bytes[i + 2]!) | 0;
    fourth = (fourth + bytes[i + 3]!) | 0;
  }
  first = (first + (bytes[words] ?? 0)) | 0;
  second = (second + (bytes[words + 1] ?? 0)) | 0;
  third = (third + (bytes[words + 2] ?? 0)) | 0;
  return ((first << 24) + (second << 16) + (third << 8) + fourth) >>> 0;
}

/** Growing output of an encoder. */
export class DeltaWriter {
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + count));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }

  number(value: number, terminator: number): void {
    this.#reserve(8);
    const count = digitCount(value);
    for (let i = count - 1, rest = value; i >= 0; i--, rest >>>= 6) {
      this.#bytes[this.#length + i] = DIGITS[rest & 63]!;
    }
    this.#length += count;
    this.#bytes[this.#length++] = terminator;
  }

  literal(text: Uint8Array): void {
    this.number(text.length, COLON);
    this.#reserve(text.length);
    this.#bytes.set(text, this.#length);
    this.#length += text.length;
  }

  copy(count: number, offset: number): void {
    this.number(count, AT);
    this.number(offset, COMMA);
  }

  /** The length of the target, with which a delta begins. */
  length(length: number): void {
    this.number(length, NEWLINE);
  }

  /** The checksum of the target, with which a delta ends. */
  end(sum: number): void {
    this.number(sum, SEMICOLON);
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }
}

function digitCount(value: number): number {
  let count = 1;
  for (let rest = value; rest > 63; rest >>>= 6) count++;
  return count;
}

/** The rolling sum over one window. Bytes count as signed, as the C program's `char` does. */
class WindowHash {
  #low = 0;
  #high = 0;

  start(bytes: Uint8Array, at: number): void {
    let [low, high] = [0, 0];
    for (let i = 0; i < WINDOW; i++) {
      low += signed(bytes[at + i]!);
      high += low;
    }
    this.#low = low & 0xffff;
    this.#high = high & 0xffff;
  }

  roll(leaving: number, entering: number): void {
    this.#low = (this.#low - signed(leaving) + signed(entering)) & 0xffff;
    this.#high = (this.#high - WINDOW * signed(leaving) + this.#low) & 0xffff;
  }

  bucket(count: number): number {
    return ((this.#low | (this.#high << 16)) >>> 0) % (count >>> 0);
  }
}

function signed(byte: number): number {
  return (byte << 24) >> 24;
}

/** Blocks of the source by the sum of their first window: one head per bucket, then a chain. */
class SourceIndex {
  readonly source: Uint8Array;
  readonly #buckets: number;
  readonly #heads: Int32Array;
  readonly #next: Int32Array;

  constructor(source: Uint8Array) {
    this.source = source;
    this.#buckets = Math.floor(source.length / WINDOW);
    this.#heads = new Int32Array(this.#buckets).fill(-1);
    this.#next = new Int32Array(this.#buckets).fill(-1);
    const hash = new WindowHash();
    for (let at = 0; at < source.length - WINDOW; at += WINDOW) {
      hash.start(source, at);
      const bucket = hash.bucket(this.#buckets);
      this.#next[at / WINDOW] = this.#heads[bucket]!;
      this.#heads[bucket] = at / WINDOW;
    }
  }

  /**
   * The longest match around `target[base + ahead]` that is worth a copy; it does not start before
   * `base`. The first of equally long ones wins.
   */
  longestMatch(target: Uint8Array, base: number, ahead: number, hash: WindowHash): Match | null {
    const { source } = this;
    let best: Match | null = null;
    let left = MAX_CANDIDATES;
    let block = this.#heads[hash.bucket(this.#buckets)]!;
    for (; block >= 0 && left > 0; block = this.#next[block]!, left--) {
      const at = block * WINDOW;
      const here = base + ahead;
      const limit = Math.min(source.length - at, target.length - here);
      const reach = Math.min(at - 1, ahead);
      // Only a candidate that is longer than the best one counts. In a text that repeats itself,
      // every candidate is long.
      const needed: number = (best?.count ?? 0) + 1 - Math.max(reach, 0);
      if (needed > limit) continue;
      let forward = needed > MIN_COMPARED ? needed : 0;
      if (forward > 0 && !isSame(source, at, target, here, forward)) continue;
      while (forward < limit && source[at + forward] === target[here + forward]) forward++;
      let back = 0;
      while (back < reach && source[at - back - 1] === target[here - back - 1]) back++;
      const count = forward + back;
      const literal = ahead - back;
      const cost = digitCount(literal) + digitCount(count) + digitCount(at - back) + 3;
      if (count >= cost && count > (best?.count ?? 0)) {
        best = { count, offset: at - back, literal };
      }
    }
    return best;
  }
}

/** Whether two ranges have the same bytes, by one call of native code. */
function isSame(one: Uint8Array, at: number, other: Uint8Array, there: number, length: number) {
  const bytes = Buffer.from(one.buffer, one.byteOffset + at, length);
  return bytes.compare(other, there, there + length) === 0;
}

interface Match {
  readonly count: number;
  readonly offset: number;
  /** Bytes of the target that come before the match and must be written out. */
  readonly literal: number;
}

/**
 * The delta that makes `target` from `source`, identical to the output of `fossil`, byte for byte.
 */
export function createDelta(source: Uint8Array, target: Uint8Array): Uint8Array {
  const writer = new DeltaWriter(256 + (target.length >> 3));
  writer.length(target.length);
  const base = source.length > WINDOW ? writeMatches(writer, source, target) : 0;
  if (base < target.length || source.length <= WINDOW) writer.literal(target.subarray(base));
  writer.end(checksum(target));
  return writer.finish();
}

/** Writes copies and the text between them; returns the end of the last copy. */
function writeMatches(writer: DeltaWriter, source: Uint8Array, target: Uint8Array): number {
  const index = new SourceIndex(source);
  const hash = new WindowHash();
  let base = 0;
  while (base + WINDOW < target.length) {
    hash.start(target, base);
    let ahead = 0;
    let match = index.longestMatch(target, base, ahead, hash);
    while (match === null && base + ahead + WINDOW < target.length) {
      hash.roll(target[base + ahead]!, target[base + ahead + WINDOW]!);
      ahead++;
      match = index.longestMatch(target, base, ahead, hash);
    }
    if (match === null) return base;
    if (match.literal > 0) writer.literal(target.subarray(base, base + match.literal));
    writer.copy(match.count, match.offset);
    base += match.literal + match.count;
  }
  return base;
}

/** Reads numbers of a delta; every number is bounded, so that sums of two stay exact. */
class DeltaReader {
  readonly bytes: Uint8Array;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  number(): number {
    let value = 0;
    for (; this.position < this.bytes.length; this.position++) {
      const digit = DIGIT_VALUES[this.bytes[this.position]!]!;
      if (digit < 0) break;
      value = value * 64 + digit;
      if (value > 0xffff_ffff) throw corruptDelta("a number is too large");
    }
    return value;
  }

  operator(): number {
    return this.bytes[this.position++] ?? -1;
  }

  targetLength(maxBytes: number): number {
    const length = this.number();
    if (this.position === 0 || this.operator() !== NEWLINE) throw corruptDelta("it has no length");
    if (length > maxBytes) {
      throw new FossilError("limit", `Delta declares ${length} bytes, the limit is ${maxBytes}`);
    }
    return length;
  }
}

function corruptDelta(reason: string): FossilError {
  return new FossilError("corrupt", `Cannot apply delta: ${reason}`);
}

/**
 * The length of a delta's target, from its first line.
 *
 * @throws {FossilError} `corrupt` if it has none; `limit` if that is over `maxBytes`
 */
export function deltaTargetLength(delta: Uint8Array, maxBytes = Infinity): number {
  return new DeltaReader(delta).targetLength(maxBytes);
}

/** Takes the parts of a delta's target, in their order. */
export interface DeltaParts {
  /** Bytes of the source from an offset to another. */
  copy(start: number, end: number): void;
  literal(bytes: Uint8Array): void;
}

/** What a delta is checked against, in bytes. */
export interface DeltaBounds {
  readonly sourceLength: number;
  readonly maxBytes: number;
}

/**
 * Reads a delta. The parts never exceed the declared length, which is bounded.
 *
 * @throws {FossilError} `limit` if the declared length is over `maxBytes`; `corrupt` if the delta
 * is malformed, reaches outside the source, or its target is not what it declares.
 */
export function readDelta(delta: Uint8Array, bounds: DeltaBounds, parts: DeltaParts): void {
  const { sourceLength, maxBytes } = bounds;
  const reader = new DeltaReader(delta);
  const length = reader.targetLength(maxBytes);
  let written = 0;
  while (reader.position < delta.length) {
    const count = reader.number();
    switch (reader.operator()) {
      case AT: {
        const offset = reader.number();
        if (reader.operator() !== COMMA) throw corruptDelta("a copy has no end");
        if (offset + count > sourceLength) throw corruptDelta("a copy leaves the source");
        if (written + count > length) throw corruptDelta("it gives more than it declares");
        parts.copy(offset, offset + count);
        break;
      }
      case COLON: {
        const end = reader.position + count;
        if (end > delta.length) throw corruptDelta("a literal is cut short");
        if (written + count > length) throw corruptDelta("it gives more than it declares");
        parts.literal(delta.subarray(reader.position, end));
        reader.position = end;
        break;
      }
      case SEMICOLON:
        if (written !== length) throw corruptDelta("it gives less than it declares");
        return;
      default:
        throw corruptDelta("unknown operator");
    }
    written += count;
  }
  throw corruptDelta("it has no checksum");
}

/**
 * Applies a delta.
 *
 * @throws {FossilError} see {@link readDelta}
 */
export function applyDelta(
  source: Uint8Array,
  delta: Uint8Array,
  maxBytes = MAX_ARTIFACT_BYTES,
): Uint8Array {
  const target = new Uint8Array(deltaTargetLength(delta, maxBytes));
  let written = 0;
  const add = (bytes: Uint8Array) => {
    target.set(bytes, written);
    written += bytes.length;
  };
  readDelta(delta, { sourceLength: source.length, maxBytes }, {
    copy: (start, end) => add(source.subarray(start, end)),
    literal: add,
  });
  return target;
}
