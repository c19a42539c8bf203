/**
 * Lists of the messages that have each key, in chunks. A chunk has, for each key in order, the
 * distance to the key before it, how many messages have it, the number of the first one and the
 * distance of each to the one before it. All of these take seven bits a byte, the low ones first.
 */
import type { KeyRange } from "./grams.ts";

/** Bits of a message's number. */
export const NUMBER_BITS = 11;

/** Messages that one set of lists can have. */
export const MAX_MESSAGES = 1 << NUMBER_BITS;

/** Bytes of a chunk, of which two fit in a page of SQLite. A longer list has a chunk to itself. */
const CHUNK_BYTES = 1900;

/** Most bytes of a key and a count, and of a message's number. */
const HEAD_BYTES = 5;
const NUMBER_BYTES = 2;

/** Bits that one pass of the sort looks at: two passes sort the 21 bits of a key. */
const SORTED_BITS = 11;

/** The lists of some neighbouring keys. */
export interface Chunk {
  readonly firstKey: number;
  readonly bytes: Uint8Array;
}

/**
 * Makes the lists.
 *
 * @param pairs keys, with the number of a message that has it in the low bits; the numbers never go
 * back, and pairs may repeat. Its content is lost.
 */
export function chunksOf(pairs: Uint32Array): Chunk[] {
  const sorted = sortedByKey(pairs);
  const chunks: Chunk[] = [];
  const bytes = new Uint8Array(CHUNK_BYTES + HEAD_BYTES + MAX_MESSAGES * NUMBER_BYTES);
  let [length, firstKey, lastKey] = [0, 0, 0];
  for (let start = 0; start < sorted.length;) {
    const key = (sorted[start] ?? 0) >>> NUMBER_BITS;
    let [end, distinct] = [start, start];
    for (; end < sorted.length && (sorted[end] ?? 0) >>> NUMBER_BITS === key; end++) {
      const pair = sorted[end] ?? 0;
      if (end === start || pair !== sorted[distinct - 1]) sorted[distinct++] = pair;
    }
    const room = HEAD_BYTES + (distinct - start) * NUMBER_BYTES;
    if (length > 0 && length + room > CHUNK_BYTES) {
      chunks.push({ firstKey, bytes: bytes.slice(0, length) });
      length = lastKey = 0;
    }
    if (length === 0) firstKey = key;
    length = writeNumber(bytes, length, key - lastKey);
    length = writeNumber(bytes, length, distinct - start);
    for (let index = start, last = 0; index < distinct; index++) {
      const number = (sorted[index] ?? 0) & (MAX_MESSAGES - 1);
      length = writeNumber(bytes, length, number - last);
      last = number;
    }
    lastKey = key;
    start = end;
  }
  if (length > 0) chunks.push({ firstKey, bytes: bytes.slice(0, length) });
  return chunks;
}

/** The numbers of the messages in a chunk that have a key of a range, each once, in order. */
export function numbersIn(chunk: Uint8Array, { from, to }: KeyRange): number[] {
  const reader = new NumberReader(chunk);
  const found: number[] = [];
  let keys = 0;
  for (let key = 0; !reader.done;) {
    key += reader.next();
    if (key > to) break;
    const count = reader.next();
    if (key < from) {
      reader.skip(count);
      continue;
    }
    keys++;
    for (let index = 0, number = 0; index < count; index++) found.push(number += reader.next());
  }
  return keys > 1 ? [...new Set(found)].sort((one, other) => one - other) : found;
}

function writeNumber(bytes: Uint8Array, at: number, number: number): number {
  while (number > 0x7f) {
    bytes[at++] = (number & 0x7f) | 0x80;
    number >>>= 7;
  }
  bytes[at++] = number;
  return at;
}

class NumberReader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#position >= this.#bytes.length;
  }

  next(): number {
    let byte = this.#bytes[this.#position++] ?? 0;
    let number = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = this.#bytes[this.#position++] ?? 0;
      number |= (byte & 0x7f) << shift;
    }
    return number;
  }

  skip(count: number): void {
    while (count > 0) {
      if ((this.#bytes[this.#position++] ?? 0) < 0x80) count--;
    }
  }
}

/** Pairs by key; those of a key stay in order. */
function sortedByKey(pairs: Uint32Array): Uint32Array {
  const halfway = sortedByBits(pairs, NUMBER_BITS, new Uint32Array(pairs.length));
  return sortedByBits(halfway, NUMBER_BITS + SORTED_BITS, pairs);
}

/** Copies pairs by some of their bits. */
function sortedByBits(pairs: Uint32Array, shift: number, into: Uint32Array): Uint32Array {
  const places = new Uint32Array(1 << SORTED_BITS);
  const mask = places.length - 1;
  const bitsAt = (index: number) => ((pairs[index] ?? 0) >>> shift) & mask;
  for (let index = 0; index < pairs.length; index++) {
    const bits = bitsAt(index);
    places[bits] = (places[bits] ?? 0) + 1;
  }
  for (let bits = 0, start = 0; bits < places.length; bits++) {
    const count = places[bits] ?? 0;
    places[bits] = start;
    start += count;
  }
  for (let index = 0; index < pairs.length; index++) {
    const bits = bitsAt(index);
    const place = places[bits] ?? 0;
    into[place] = pairs[index] ?? 0;
    places[bits] = place + 1;
  }
  return into;
}
