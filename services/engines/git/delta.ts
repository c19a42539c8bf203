/**
 * Deltas of a pack: copies from a base, and inserted bytes.
 *
 * @see {@link https://git-scm.com/docs/gitformat-pack#_deltified_representation}
 */
import { GitError } from "./error.ts";

/** Most bytes of one insertion, and of one copy: older versions of packs keep no more. */
const MAX_INSERT = 0x7f;
const MAX_COPY = 0x10000;
const COPY = 0x80;

/** Writes a delta. */
export class DeltaWriter {
  #bytes: Uint8Array;
  #length = 0;

  /** @param lengths of the base and of the result, in bytes */
  constructor(lengths: { readonly base: number; readonly result: number }) {
    this.#bytes = new Uint8Array(64);
    this.#size(lengths.base);
    this.#size(lengths.result);
  }

  /** Takes bytes from the base, from an offset to another. */
  copy(start: number, end: number): void {
    for (let at = start; at < end; at += MAX_COPY) this.#copy(at, Math.min(end - at, MAX_COPY));
  }

  /** Inserts bytes. */
  insert(content: Uint8Array): void {
    for (let at = 0; at < content.length; at += MAX_INSERT) {
      const part = content.subarray(at, at + MAX_INSERT);
      this.#reserve(1 + part.length);
      this.#bytes[this.#length++] = part.length;
      this.#bytes.set(part, this.#length);
      this.#length += part.length;
    }
  }

  /** The delta so far. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #copy(offset: number, count: number): void {
    this.#reserve(8);
    const head = this.#length++;
    let bits = COPY;
    for (let place = 0; place < 4; place++) {
      const byte = Math.floor(offset / 2 ** (8 * place)) & 0xff;
      if (byte === 0) continue;
      bits |= 1 << place;
      this.#bytes[this.#length++] = byte;
    }
    // A count without bytes means the greatest one.
    for (let place = 0; place < 2; place++) {
      const byte = (count >> (8 * place)) & 0xff;
      if (byte === 0) continue;
      bits |= 0x10 << place;
      this.#bytes[this.#length++] = byte;
    }
    this.#bytes[head] = bits;
  }

  #size(size: number): void {
    this.#reserve(8);
    let rest = size;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
    }
    this.#bytes[this.#length++] = rest;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const longer = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    longer.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = longer;
  }
}

/** Reads the numbers of a delta. */
class DeltaReader {
  at = 0;
  readonly #delta: Uint8Array;

  constructor(delta: Uint8Array) {
    this.#delta = delta;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#delta.length;
  }

  byte(): number {
    const byte = this.#delta[this.at++];
    if (byte === undefined) throw new GitError("A delta is cut short");
    return byte;
  }

  /** A number in groups of seven bits, the lowest first; beyond 49 bits it is malformed. */
  size(): number {
    let [size, scale] = [0, 1];
    for (let byte = this.byte();; byte = this.byte()) {
      size += (byte & 0x7f) * scale;
      if (byte < 0x80) return size;
      scale *= 0x80;
      if (scale > 2 ** 42) throw new GitError("A delta has a size that is too large");
    }
  }

  /** A number whose bytes are there where its bits are set, the lowest first. */
  number(bits: number, bytes: number): number {
    let value = 0;
    for (let place = 0; place < bytes; place++) {
      if ((bits & (1 << place)) !== 0) value += this.byte() * 2 ** (8 * place);
    }
    return value;
  }

  take(count: number): Uint8Array {
    if (this.at + count > this.#delta.length) throw new GitError("A delta is cut short");
    return this.#delta.subarray(this.at, this.at += count);
  }
}

/** The lengths that a delta declares, of its base and of its result, in bytes. */
export function deltaLengths(
  delta: Uint8Array,
): { readonly base: number; readonly result: number } {
  const reader = new DeltaReader(delta);
  return { base: reader.size(), result: reader.size() };
}

/**
 * Applies a delta.
 *
 * @param maxBytes of the result
 * @throws {GitError} the delta is malformed or for another base, or its result is too large
 */
export function applyDelta(
  base: Uint8Array,
  delta: Uint8Array,
  maxBytes: number,
): Uint8Array<ArrayBuffer> {
  const reader = new DeltaReader(delta);
  if (reader.size() !== base.length) throw new GitError("A delta is for a base of another length");
  const length = reader.size();
  if (length > maxBytes) {
    throw new GitError(`An object has ${length} bytes, the limit is ${maxBytes}`);
  }
  const result = new Uint8Array(length);
  let written = 0;
  const add = (part: Uint8Array) => {
    if (written + part.length > length) throw new GitError("A delta gives more than it declares");
    result.set(part, written);
    written += part.length;
  };
  while (!reader.isAtEnd) {
    const head = reader.byte();
    if (head === 0) throw new GitError("A delta has an unknown instruction");
    if (head < COPY) {
      add(reader.take(head));
      continue;
    }
    const offset = reader.number(head & 0xf, 4);
    const count = reader.number((head >> 4) & 0x7, 3) || MAX_COPY;
    if (offset + count > base.length) throw new GitError("A delta copies from outside its base");
    add(base.subarray(offset, offset + count));
  }
  if (written !== length) throw new GitError("A delta gives less than it declares");
  return result;
}
