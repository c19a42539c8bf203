/** A client's unread bytes, and the lines in them. */

const EMPTY = new Uint8Array(0);
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const AT = 0x40;

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
    this.#position = end + 1;
    return this.#bytes.subarray(start, this.#bytes[end - 1] === CR && end > start ? end - 1 : end);
  }

  /** Keeps the rest for later. False if it exceeds the limit or contains an overlong line. */
  settle(): boolean {
    this.#bytes = this.#position === this.#bytes.length ? EMPTY : this.#bytes.slice(this.#position);
    this.#position = 0;
    return !this.#overrun && this.#bytes.length < this.#limit;
  }

  clear(): void {
    this.#bytes = EMPTY;
    this.#position = 0;
  }
}

/** Bytes of a line's tags (with `@` and the space after them) and of the rest. */
export function lineLengths(line: Uint8Array): { tags: number; rest: number } {
  if (line[0] !== AT) return { tags: 0, rest: line.length };
  const space = line.indexOf(SPACE);
  const tags = space === -1 ? line.length : space + 1;
  return { tags, rest: line.length - tags };
}
