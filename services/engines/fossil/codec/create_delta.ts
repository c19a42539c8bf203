import { checksum, DeltaWriter } from "./delta.ts";

/** Bytes in the window by which matches are found. */
const WINDOW = 16;
/** Most places of the source that are remembered. */
const MAX_PLACES = 1024 * 1024;
/** Places of the source that are tried for one hash. */
const MAX_PROBES = 4;
/** A copy of fewer bytes is not worth its numbers. */
const MIN_COPY = 12;

/** Of the hash of a window: the sum of its bytes, each times a power of this number, modulo 2^32. */
const FACTOR = 0x2c9277b5;
const FACTOR_OF_FIRST = power(WINDOW - 1);

function power(exponent: number): number {
  let product = 1;
  for (let i = 0; i < exponent; i++) product = Math.imul(product, FACTOR);
  return product;
}

function hashAt(bytes: Uint8Array, at: number): number {
  let hash = 0;
  for (let i = at; i < at + WINDOW; i++) hash = (Math.imul(hash, FACTOR) + bytes[i]!) | 0;
  return hash;
}

/** The places of a source, by the hashes of their windows. */
class Places {
  readonly #source: Uint8Array;
  readonly #table: Int32Array;
  readonly #mask: number;

  constructor(source: Uint8Array) {
    const step = Math.max(WINDOW, Math.ceil(source.length / MAX_PLACES));
    let size = 64;
    while (size * step < source.length * 2) size *= 2;
    this.#source = source;
    this.#table = new Int32Array(size);
    this.#mask = size - 1;
    for (let at = 0; at + WINDOW <= source.length; at += step) this.#add(at);
  }

  #add(at: number): void {
    let slot = this.#slotOf(hashAt(this.#source, at));
    for (let probe = 0; probe < MAX_PROBES; probe++, slot = (slot + 1) & this.#mask) {
      const other = this.#table[slot]! - 1;
      if (other < 0) {
        this.#table[slot] = at + 1;
        return;
      }
      if (isSame(this.#source, other, this.#source, at)) return;
    }
  }

  /** A place of the source with the window of a target at a place; -1 if there is none. */
  find(hash: number, target: Uint8Array, at: number): number {
    let slot = this.#slotOf(hash);
    for (let probe = 0; probe < MAX_PROBES; probe++, slot = (slot + 1) & this.#mask) {
      const place = this.#table[slot]! - 1;
      if (place < 0) return -1;
      if (isSame(this.#source, place, target, at)) return place;
    }
    return -1;
  }

  #slotOf(hash: number): number {
    return (hash ^ (hash >>> 15)) & this.#mask;
  }
}

/** Whether two windows have the same bytes. */
function isSame(left: Uint8Array, at: number, right: Uint8Array, there: number): boolean {
  for (let i = 0; i < WINDOW; i++) if (left[at + i] !== right[there + i]) return false;
  return true;
}

/**
 * A delta that makes `target` from `source`. Of each window it tries a few places of the source, so that
 * its time grows with the bytes alone. The program tries up to 250, which a hash by sums finds even in
 * contents that have nothing in common: hours for a gigabyte.
 */
export function createDelta(source: Uint8Array, target: Uint8Array): Uint8Array {
  const writer = new DeltaWriter(256 + (target.length >> 3));
  writer.length(target.length);
  const places = new Places(source);
  let written = 0;
  /** From a place of the target to where the source would go on, if nothing was added or taken away. */
  let shift = 0;
  let hash = target.length < WINDOW ? 0 : hashAt(target, 0);
  for (let at = 0; at + WINDOW <= target.length;) {
    const place = isSame(source, at + shift, target, at)
      ? at + shift
      : places.find(hash, target, at);
    const copy = place < 0 ? null : matchAround(source, place, target, { at, written });
    if (copy === null || copy.count < MIN_COPY) {
      const leaving = Math.imul(target[at]!, FACTOR_OF_FIRST);
      hash = (Math.imul(hash - leaving, FACTOR) + (target[at + WINDOW] ?? 0)) | 0;
      at++;
      continue;
    }
    if (copy.start > written) writer.literal(target.subarray(written, copy.start));
    writer.copy(copy.count, copy.place);
    at = written = copy.start + copy.count;
    shift = copy.place - copy.start;
    if (at + WINDOW <= target.length) hash = hashAt(target, at);
  }
  if (written < target.length) writer.literal(target.subarray(written));
  writer.end(checksum(target));
  return writer.finish();
}

interface Copy {
  readonly start: number;
  readonly place: number;
  readonly count: number;
}

/** The longest match around a place of the source and one of the target, after what is written. */
function matchAround(
  source: Uint8Array,
  place: number,
  target: Uint8Array,
  { at, written }: { readonly at: number; readonly written: number },
): Copy {
  let end = WINDOW;
  const most = Math.min(source.length - place, target.length - at);
  while (end < most && source[place + end] === target[at + end]) end++;
  let back = 0;
  const least = Math.min(place, at - written);
  while (back < least && source[place - back - 1] === target[at - back - 1]) back++;
  return { start: at - back, place: place - back, count: back + end };
}
