import { joinBytes } from "../../codec/mod.ts";
import { FossilError } from "../../error.ts";
import { decodeText } from "./text.ts";

/** Bytes read at a time. */
const PIECE_BYTES = 64 * 1024;

/**
 * Reads a file or standard input piece by piece into one buffer, which makes no garbage. A piece is
 * valid until the next one is requested.
 */
export async function* readPieces(
  source: { read(buffer: Uint8Array): Promise<number | null> },
): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(PIECE_BYTES);
  for (;;) {
    const count = await source.read(buffer);
    if (count === null) return;
    yield buffer.subarray(0, count);
  }
}

/** Longest line of a command, in bytes: two quoted paths of the longest kind. */
const MAX_LINE_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;
const LINE_END = Uint8Array.of(LINE_FEED);

/**
 * Reads lines and counted bytes from a stream of pieces; buffers no more than requested. Drops a
 * piece when it requests the next one.
 */
export class StreamReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #piece: Uint8Array = new Uint8Array(0);
  #position = 0;
  #pushedBack: string | null = null;
  #lineNumber = 0;
  #bytes = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Bytes taken from the stream. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of the last line, from 1. */
  get lineNumber(): number {
    return this.#lineNumber;
  }

  /** An error with the number of the last line. */
  error(message: string): FossilError {
    return new FossilError("invalid", `Line ${this.#lineNumber} of the stream: ${message}`);
  }

  /** The next line without its end, as {@link decodeText} reads it; null at the end of the stream. */
  async line(): Promise<string | null> {
    if (this.#pushedBack !== null) {
      const line = this.#pushedBack;
      this.#pushedBack = null;
      return line;
    }
    const fault = `It is longer than ${MAX_LINE_BYTES} bytes`;
    const bytes = await this.#bytesOfLine(MAX_LINE_BYTES, fault);
    return bytes === null ? null : decodeText(bytes);
  }

  /**
   * The lines up to one that is the delimiter, with their ends. A delimiter that does not come is
   * an error.
   */
  async until(delimiter: Uint8Array, maxBytes: number): Promise<Uint8Array> {
    const content = new ByteBuffer();
    const fault = `Data is over the limit of ${maxBytes} bytes`;
    for (;;) {
      const room = maxBytes - content.length;
      const line = await this.#bytesOfLine(Math.max(room, delimiter.length), fault);
      if (line === null) throw this.error("The stream ends within data");
      if (areEqual(line, delimiter)) return content.taken();
      if (line.length >= room) throw this.error(fault);
      content.add(line);
      content.add(LINE_END);
    }
  }

  /** The bytes of the next line, in use until the next read; null at the end of the stream. */
  async #bytesOfLine(maxBytes: number, fault: string): Promise<Uint8Array | null> {
    const parts: Uint8Array[] = [];
    for (let length = 0;;) {
      if (!await this.#fill()) {
        if (length === 0) return null;
        this.#lineNumber++;
        return joinBytes(parts);
      }
      const feed = this.#piece.indexOf(LINE_FEED, this.#position);
      const end = feed < 0 ? this.#piece.length : feed;
      const part = this.#piece.subarray(this.#position, end);
      length += part.length;
      if (length > maxBytes) {
        this.#lineNumber++;
        throw this.error(fault);
      }
      this.#position = feed < 0 ? end : feed + 1;
      parts.push(feed < 0 ? part.slice() : part);
      if (feed < 0) continue;
      this.#lineNumber++;
      return parts.length === 1 ? part : joinBytes(parts);
    }
  }

  /** Puts a line back, to be read again. */
  pushBack(line: string): void {
    this.#pushedBack = line;
  }

  /** The next bytes. The caller has checked the length. */
  async take(length: number): Promise<Uint8Array> {
    const result = new Uint8Array(length);
    for (let done = 0; done < length;) {
      if (!await this.#fill()) throw this.error("The stream ends within data");
      const part = this.#piece.subarray(this.#position, this.#position + length - done);
      result.set(part, done);
      done += part.length;
      this.#position += part.length;
    }
    for (let at = result.indexOf(LINE_FEED); at >= 0; at = result.indexOf(LINE_FEED, at + 1)) {
      this.#lineNumber++;
    }
    return result;
  }

  /** Skips the optional line feed after data. */
  async skipLineFeed(): Promise<void> {
    if (!await this.#fill() || this.#piece[this.#position] !== LINE_FEED) return;
    this.#position++;
    this.#lineNumber++;
  }

  /** Makes sure that a byte is buffered; false at the end of the stream. */
  async #fill(): Promise<boolean> {
    while (this.#position >= this.#piece.length) {
      const { value, done } = await this.#source.next();
      if (done === true) return false;
      this.#piece = value;
      this.#position = 0;
      this.#bytes += value.length;
    }
    return true;
  }

  /** Closes the source. */
  async cancel(): Promise<void> {
    await this.#source.return?.();
  }
}

/** Bytes that are collected; their room doubles. */
class ByteBuffer {
  #bytes = new Uint8Array(1024);
  length = 0;

  add(part: Uint8Array): void {
    const needed = this.length + part.length;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(part, this.length);
    this.length = needed;
  }

  /** What was collected, in bytes of its own. */
  taken(): Uint8Array {
    return this.#bytes.slice(0, this.length);
  }
}

function areEqual(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, i) => byte === right[i]);
}
