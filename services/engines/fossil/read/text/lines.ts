import { Buffer } from "node:buffer";
import { decodeUtf8 } from "../../codec/mod.ts";
import { type Match, matchSequences, TextMap } from "../../text/mod.ts";

const NEWLINE = 0x0a;
/** Initial room, in lines. */
const FIRST_LINES = 64;
/** Bytes compared at once. */
const CHUNK = 4096;

/** Bytes cut into lines. The end of a line belongs to it; the last line may have none. */
export class Lines {
  readonly bytes: Uint8Array;
  /** Where each line starts, and finally where the bytes end. */
  readonly #starts: Int32Array;

  constructor(bytes: Uint8Array, starts: Int32Array = lineStarts(bytes, 0, bytes.length)) {
    this.bytes = bytes;
    this.#starts = starts;
  }

  get count(): number {
    return this.#starts.length - 1;
  }

  /** Offset of a line; for the line after the last one, the length. */
  start(index: number): number {
    return this.#starts[index] ?? this.bytes.length;
  }

  /** A line's text with its end. */
  text(index: number): string {
    return decodeUtf8(this.bytes.subarray(this.start(index), this.start(index + 1)));
  }

  /**
   * A line as a string of one character per byte, to be compared.
   *
   * @param isLoose whether lines are equal that differ in white space alone
   */
  key(index: number, isLoose = false): string {
    const { buffer, byteOffset } = this.bytes;
    const start = this.start(index);
    const text = Buffer.from(buffer, byteOffset + start, this.start(index + 1) - start)
      .toString("latin1");
    return isLoose ? text.replace(/[ \t\n\v\f\r]+/g, "") : text;
  }

  /** Number of lines that start in the first `offset` bytes or at `offset`. */
  startsUntil(offset: number): number {
    let [low, high] = [0, this.#starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle]! <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Starts of some lines, moved. */
  startsOf(from: number, to: number, shift: number): Int32Array {
    const starts = this.#starts.slice(from, to);
    if (shift !== 0) { for (let i = 0; i < starts.length; i++) starts[i]! += shift; }
    return starts;
  }
}

/** Starts of the lines in a range of bytes, and the range's end. */
function lineStarts(bytes: Uint8Array, from: number, to: number): Int32Array {
  let starts = new Int32Array(FIRST_LINES);
  let count = 0;
  for (let start = from; start < to;) {
    if (count + 1 === starts.length) starts = grown(starts);
    starts[count++] = start;
    const end = bytes.indexOf(NEWLINE, start);
    start = end < 0 || end >= to ? to : end + 1;
  }
  starts[count++] = to;
  return starts.slice(0, count);
}

function grown(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const twice = new Int32Array(2 * numbers.length);
  twice.set(numbers);
  return twice;
}

/** Two texts that share lines at both ends. */
export interface Comparison {
  readonly left: Lines;
  readonly right: Lines;
  /** Equal lines at the start and at the end. */
  readonly prefix: number;
  readonly suffix: number;
}

/**
 * Finds the lines that other bytes share with `left` at both ends. Cuts only the bytes between them
 * into lines, which makes a walk through many versions of a file fast.
 */
export function compareEnds(left: Lines, bytes: Uint8Array): Comparison {
  const shared = commonPrefix(left.bytes, bytes);
  const room = Math.min(left.bytes.length, bytes.length) - shared;
  const tail = commonSuffix(left.bytes, bytes, room);
  let prefix = left.startsUntil(shared) - 1;
  if (prefix === left.count && left.bytes.at(-1) !== NEWLINE) prefix = Math.max(0, prefix - 1);
  const behind = Math.max(left.startsUntil(left.bytes.length - tail), prefix);
  const suffix = Math.max(0, left.count - behind);
  const shift = bytes.length - left.bytes.length;
  const middle = lineStarts(bytes, left.start(prefix), left.start(left.count - suffix) + shift);
  const head = left.startsOf(0, prefix, 0);
  const rest = left.startsOf(left.count - suffix + 1, left.count + 1, shift);
  const starts = new Int32Array(head.length + middle.length + rest.length);
  starts.set(head);
  starts.set(middle, head.length);
  starts.set(rest, head.length + middle.length);
  return { left, right: new Lines(bytes, starts), prefix, suffix };
}

/** Number of equal bytes at the start. */
function commonPrefix(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  let at = 0;
  while (at + CHUNK <= length && isEqual(left, at, right, at)) at += CHUNK;
  while (at < length && left[at] === right[at]) at++;
  return at;
}

/** Number of equal bytes at the end, at most `room`. */
function commonSuffix(left: Uint8Array, right: Uint8Array, room: number): number {
  let [end, otherEnd] = [left.length, right.length];
  const stop = end - room;
  while (end - CHUNK >= stop && isEqual(left, end - CHUNK, right, otherEnd - CHUNK)) {
    end -= CHUNK;
    otherEnd -= CHUNK;
  }
  while (end > stop && left[end - 1] === right[otherEnd - 1]) {
    end--;
    otherEnd--;
  }
  return left.length - end;
}

/** Whether a chunk of one is a chunk of the other. */
function isEqual(left: Uint8Array, start: number, right: Uint8Array, otherStart: number): boolean {
  const chunk = left.subarray(start, start + CHUNK);
  return Buffer.compare(chunk, right.subarray(otherStart, otherStart + CHUNK)) === 0;
}

/**
 * Runs of equal lines, in order; `left` and `right` are numbers of lines from 0.
 *
 * @param isLoose see `Lines.key`
 */
export function matchLines(comparison: Comparison, isLoose = false): Match[] {
  const { left, right, prefix, suffix } = comparison;
  const ids = new TextMap<number>();
  const [leftIds, rightIds] = [left, right].map((lines) => {
    const numbers = new Int32Array(lines.count - prefix - suffix);
    for (let i = 0; i < numbers.length; i++) {
      const key = lines.key(prefix + i, isLoose);
      const id = ids.get(key) ?? ids.size;
      ids.set(key, id);
      numbers[i] = id;
    }
    return numbers;
  });
  const matches = matchSequences(leftIds!, rightIds!)
    .map((match) => ({ ...match, left: match.left + prefix, right: match.right + prefix }));
  if (prefix > 0) matches.unshift({ left: 0, right: 0, length: prefix });
  if (suffix > 0) {
    const [start, other] = [left.count - suffix, right.count - suffix];
    matches.push({ left: start, right: other, length: suffix });
  }
  return matches;
}
