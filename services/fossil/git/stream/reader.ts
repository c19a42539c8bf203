import { decodeUtf8, joinBytes } from "../../codec/mod.ts";
import { FossilError } from "../../error.ts";

/** Longest line of a command, in bytes: two quoted paths of the longest kind. */
const MAX_LINE_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;

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

  /** The next line without its end; null at the end of the stream. */
  async line(): Promise<string | null> {
    if (this.#pushedBack !== null) {
      const line = this.#pushedBack;
      this.#pushedBack = null;
      return line;
    }
    const parts: Uint8Array[] = [];
    for (let length = 0;;) {
      if (!await this.#fill()) return this.#endOfLine(parts, length === 0);
      const feed = this.#piece.indexOf(LINE_FEED, this.#position);
      const end = feed < 0 ? this.#piece.length : feed;
      const part = this.#piece.subarray(this.#position, end);
      parts.push(feed < 0 ? part.slice() : part);
      length += end - this.#position;
      if (length > MAX_LINE_BYTES) {
        this.#lineNumber++;
        throw this.error(`It is longer than ${MAX_LINE_BYTES} bytes`);
      }
      this.#position = feed < 0 ? end : feed + 1;
      if (feed >= 0) return this.#endOfLine(parts, false);
    }
  }

  #endOfLine(parts: readonly Uint8Array[], isEnd: boolean): string | null {
    if (isEnd) return null;
    this.#lineNumber++;
    return decodeUtf8(parts.length === 1 ? parts[0]! : joinBytes(parts));
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
