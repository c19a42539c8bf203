import { Buffer } from "node:buffer";
import { readDelta } from "../codec/mod.ts";
import { IntList } from "./int_list.ts";
import { LineIds, type Lines } from "./line_ids.ts";
import { lastUntil, LinePatch } from "./line_patch.ts";

const NEWLINE = 0x0a;
/** Bytes compared at once. */
const CHUNK = 4096;

/** A text as lines. */
export interface SplitText extends Lines {
  readonly bytes: Uint8Array;
}

/** Numbers lines. Compares bytes, so that any encoding and any line end is kept. */
export class LineTable {
  readonly #ids = new LineIds();

  /** The memory that it takes, in bytes, about. It keeps the texts, which must not change. */
  get heldBytes(): number {
    return this.#ids.heldBytes;
  }

  /** Splits a text after each line feed; the last line may have none. */
  split(bytes: Uint8Array): SplitText {
    const [ids, offsets] = [new IntList(), new IntList()];
    this.#ids.split(bytes, { from: 0, to: bytes.length, shift: 0 }, ids, offsets);
    offsets.push(bytes.length);
    return { bytes, ids: ids.finish(), offsets: offsets.finish() };
  }

  /** The same for a text that has much in common with a split one, at its start and its end. */
  splitLike({ bytes: known, ids, offsets }: SplitText, bytes: Uint8Array): SplitText {
    const head = commonPrefix(known, bytes);
    const tail = commonSuffix(known, bytes, Math.min(known.length, bytes.length) - head);
    // A line that has no end in the one text may go on in the other.
    const count = known.length > 0 && known.at(-1) !== NEWLINE ? ids.length - 1 : ids.length;
    const prefix = Math.min(lastUntil(offsets, head), count);
    // A line starts where the one before it ends, so that end must be in common, too.
    const suffix = Math.min(lastUntil(offsets, known.length - tail) + 1, ids.length);
    const shift = bytes.length - known.length;
    const [from, to] = [offsets[prefix]!, offsets[suffix]! + shift];
    const [allIds, allOffsets] = [new IntList(ids.length + 64), new IntList(ids.length + 64)];
    allIds.pushAll(ids.subarray(0, prefix));
    allOffsets.pushAll(offsets.subarray(0, prefix));
    this.#ids.split(bytes, { from, to, shift: 0 }, allIds, allOffsets);
    allIds.pushAll(ids.subarray(suffix));
    allOffsets.pushAll(offsets.subarray(suffix), shift);
    return { bytes, ids: allIds.finish(), offsets: allOffsets.finish() };
  }

  /**
   * The lines of the text that a delta makes from another one, without either text; null if that
   * text has a NUL that the other has not.
   *
   * @throws {FossilError} see `readDelta`
   */
  patch(source: Lines, delta: Uint8Array, maxBytes: number): Lines | null {
    const patch = new LinePatch(this.#ids, source);
    readDelta(delta, { sourceLength: source.offsets.at(-1) ?? 0, maxBytes }, patch);
    return patch.hasNul ? null : patch.finish();
  }
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

/** The bytes of some lines. */
export function sliceLines({ bytes, offsets }: SplitText, start: number, end: number): Uint8Array {
  return bytes.subarray(offsets[start]!, offsets[end]!);
}
