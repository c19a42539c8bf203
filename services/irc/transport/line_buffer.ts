/** A client's unread bytes, and the lines in them. */

import { shortAscii } from "../protocol/ascii.ts";

const EMPTY = new Uint8Array(0);
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const AT = 0x40;

/** Most bytes of several lines that are decoded at once. */
const DECODED_BYTES = 4096;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Splits bytes into lines, without copying whole lines.
 *
 * Between {@linkcode append} and {@linkcode settle}, the buffer refers to the caller's bytes.
 * Settle copies the rest, so that the caller may reuse its memory. An idle buffer holds no memory.
 */
export class LineBuffer {
  readonly #limit: number;
  #bytes: Uint8Array = EMPTY;
  #position = 0;
  #overrun = false;
  /** The text of all bytes; null if lines are decoded one by one, undefined if nobody knows yet. */
  #text: string | null | undefined;
  #textPosition = 0;
  /** The text of the last line; null if it is not decoded. */
  #lineText: string | null = null;

  /** `limit`: the bytes that a line, and the unread rest, must stay below. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes that are not used yet. */
  get length(): number {
    return this.#bytes.length - this.#position;
  }

  append(chunk: Uint8Array): void {
    if (this.#position === this.#bytes.length) {
      this.#bytes = chunk;
    } else if (chunk.length > 0) {
      const left = this.#bytes.subarray(this.#position);
      const joined = new Uint8Array(left.length + chunk.length);
      joined.set(left);
      joined.set(chunk, left.length);
      this.#bytes = joined;
    } else {
      return;
    }
    this.#position = 0;
    this.#text = undefined;
  }

  /** The next whole line without its LF or CR LF, or null. Valid until the next call of settle. */
  next(): Uint8Array | null {
    const end = this.#bytes.indexOf(LF, this.#position);
    if (end === -1) return null;
    const start = this.#position;
    if (end - start >= this.#limit) {
      this.#overrun = true;
      return null;
    }
    if (this.#text === undefined) this.#decodeLines(start, end);
    this.#lineText = typeof this.#text === "string" ? this.#nextText(this.#text) : null;
    this.#position = end + 1;
    return this.#bytes.subarray(start, this.#bytes[end - 1] === CR && end > start ? end - 1 : end);
  }

  /**
   * The text of a line; null if it is not UTF-8.
   *
   * @param line what {@linkcode next} returned last
   */
  textOf(line: Uint8Array): string | null {
    return this.#lineText ?? decode(line);
  }

  /** Decodes all bytes if there is a line after the one from `start` to `end`. */
  #decodeLines(start: number, end: number): void {
    const isFew = this.#bytes.length - start > DECODED_BYTES ||
      this.#bytes.indexOf(LF, end + 1) === -1;
    this.#text = isFew ? null : decode(this.#bytes.subarray(start));
    this.#textPosition = 0;
  }

  #nextText(text: string): string {
    const start = this.#textPosition;
    const end = text.indexOf("\n", start);
    this.#textPosition = end + 1;
    return text.slice(start, text[end - 1] === "\r" && end > start ? end - 1 : end);
  }

  /** Keeps the rest for later. False if it exceeds the limit or contains an overlong line. */
  settle(): boolean {
    this.#bytes = this.#position === this.#bytes.length ? EMPTY : this.#bytes.slice(this.#position);
    this.#position = 0;
    this.#forgetText();
    return !this.#overrun && this.#bytes.length < this.#limit;
  }

  clear(): void {
    this.#bytes = EMPTY;
    this.#position = 0;
    this.#forgetText();
  }

  #forgetText(): void {
    this.#text = undefined;
    this.#lineText = null;
  }
}

/** Decodes UTF-8; null if it is not. */
function decode(bytes: Uint8Array): string | null {
  try {
    return shortAscii(bytes) ?? decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** Bytes of a line's tags (with `@` and the space after them) and of the rest. */
export function lineLengths(line: Uint8Array): { tags: number; rest: number } {
  if (line[0] !== AT) return { tags: 0, rest: line.length };
  const space = line.indexOf(SPACE);
  const tags = space === -1 ? line.length : space + 1;
  return { tags, rest: line.length - tags };
}
