/**
 * Fossil's delta format: the length of the target, then copies from the source (`COUNT@OFFSET,`)
 * and literal text (`COUNT:TEXT`), then a checksum of the target (`SUM;`). Numbers are base 64.
 *
 * @see {@link https://fossil-scm.org/home/doc/trunk/www/delta_format.wiki}
 */
import { FossilError } from "../error.ts";
import { MAX_ARTIFACT_BYTES } from "./blob.ts";

const DIGITS = new TextEncoder().encode(
  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~",
);
const DIGIT_VALUES = digitValues();

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
