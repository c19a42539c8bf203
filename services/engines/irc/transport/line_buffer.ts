/** A client's unread bytes, and the lines in them. */

import { shortAscii } from "../protocol/text.ts";

const EMPTY = new Uint8Array(0);
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const AT = 0x40;

/** Most bytes that are decoded at once. */
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
  /** All bytes as a text; null if lines are decoded one by one, undefined if nobody knows yet. */
  #text: string | null | undefined;
  /** Where the next line begins in it: in ASCII, where it begins in the bytes. */
  #textPosition = 0;
  /** The current line. */
  #start = 0;
  #end = 0;
  /** Its text; null if it is not decoded. */
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
    this.#forget();
  }

  /**
   * Goes on to the next whole line; false if there is none. What the buffer tells about the line
   * holds until the next call of this or of {@linkcode settle}.
   */
  next(): boolean {
    if (this.#text === undefined) this.#text = this.#decode();
    const text = this.#text;
    const start = this.#position;
    const textEnd = text?.indexOf("\n", this.#textPosition) ?? -1;
    const isAscii = text?.length === this.#bytes.length;
    const end = isAscii ? textEnd : this.#bytes.indexOf(LF, start);
    if (end === -1) return false;
    if (end - start >= this.#limit) {
      this.#overrun = true;
      return false;
    }
    const breakLength = end > start && this.#bytes[end - 1] === CR ? 1 : 0;
    this.#start = start;
    this.#end = end - breakLength;
    this.#lineText = text?.slice(this.#textPosition, textEnd - breakLength) ?? null;
    this.#position = end + 1;
    this.#textPosition = textEnd + 1;
    return true;
  }

  /** The length of the current line in bytes, without its LF or CR LF. */
  get lineLength(): number {
    return this.#end - this.#start;
  }

  /** The bytes of the current line's tags, with `@` and the space after them. */
  get tagLength(): number {
    if (this.#bytes[this.#start] !== AT) return 0;
    const space = this.#bytes.indexOf(SPACE, this.#start);
    return space === -1 || space >= this.#end ? this.lineLength : space + 1 - this.#start;
  }

  /** The text of the current line; null if it is not UTF-8. */
  get text(): string | null {
    return this.#lineText ?? decode(this.line);
  }

  /** The current line. */
  get line(): Uint8Array {
    return this.#bytes.subarray(this.#start, this.#end);
  }

  /** All bytes as a text, if they have a line and are few: one call of the runtime for all lines. */
  #decode(): string | null {
    const hasLine = this.#bytes.length <= DECODED_BYTES && this.#bytes.includes(LF);
    return hasLine ? decode(this.#bytes) : null;
  }

  /** Keeps the rest for later. False if it exceeds the limit or contains an overlong line. */
  settle(): boolean {
    this.#bytes = this.#position === this.#bytes.length ? EMPTY : this.#bytes.slice(this.#position);
    this.#forget();
    return !this.#overrun && this.#bytes.length < this.#limit;
  }

  clear(): void {
    this.#bytes = EMPTY;
    this.#forget();
  }

  #forget(): void {
    this.#position = 0;
    this.#textPosition = 0;
    this.#text = undefined;
    this.#lineText = null;
    this.#start = 0;
    this.#end = 0;
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
