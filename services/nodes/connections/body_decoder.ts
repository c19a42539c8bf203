import { type BodyLength, MalformedAnswer } from "./answer_head.ts";

/** Longest line between chunks, in bytes: a size with its extensions, or a trailer. */
const MAX_LINE = 8192;

const LF = 10;

/** Finds the end of an answer's body in what arrives, and takes its framing off. */
export interface BodyDecoder {
  /** Whether the whole body has come. */
  readonly isDone: boolean;
  /**
   * Takes what has arrived.
   *
   * @returns the parts of the body in it, which are parts of the same memory
   * @throws MalformedAnswer if it breaks the framing, or something follows the body
   */
  decode(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[];
  /**
   * The connection has ended.
   *
   * @throws MalformedAnswer if the body has not
   */
  end(): void;
}

/** A decoder of a body of some length. */
export function decoderOf(length: BodyLength): BodyDecoder {
  switch (length.kind) {
    case "none":
      return new CountedBody(0);
    case "bytes":
      return new CountedBody(length.bytes);
    case "chunked":
      return new ChunkedBody();
    case "rest":
      return new RestOfConnection();
  }
}

class CountedBody implements BodyDecoder {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get isDone(): boolean {
    return this.#left === 0;
  }

  decode(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
    if (bytes.length > this.#left) throw new MalformedAnswer("Something follows the body");
    this.#left -= bytes.length;
    return bytes.length === 0 ? [] : [bytes];
  }

  end(): void {
    if (!this.isDone) throw new MalformedAnswer("The body is cut off");
  }
}

class RestOfConnection implements BodyDecoder {
  isDone = false;

  decode(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
    return bytes.length === 0 ? [] : [bytes];
  }

  end(): void {
    this.isDone = true;
  }
}

/** RFC 9112, section 7.1. Trailers are dropped. */
class ChunkedBody implements BodyDecoder {
  #state: "size" | "data" | "data end" | "trailer" | "done" = "size";
  /** Bytes of the chunk that have not come. */
  #left = 0;
  /** The beginning of a line whose end has not come. */
  #line = "";

  get isDone(): boolean {
    return this.#state === "done";
  }

  decode(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    for (let at = 0; at < bytes.length;) {
      if (this.#state === "done") throw new MalformedAnswer("Something follows the body");
      if (this.#state === "data") {
        const part = bytes.subarray(at, at + this.#left);
        at += part.length;
        this.#left -= part.length;
        if (this.#left === 0) this.#state = "data end";
        parts.push(part);
        continue;
      }
      const end = bytes.indexOf(LF, at);
      const piece = bytes.subarray(at, end < 0 ? bytes.length : end);
      if (this.#line.length + piece.length > MAX_LINE) {
        throw new MalformedAnswer("A line is too long");
      }
      this.#line += String.fromCharCode(...piece);
      if (end < 0) break;
      at = end + 1;
      if (!this.#line.endsWith("\r")) throw new MalformedAnswer("A line does not end in CRLF");
      this.#takeLine(this.#line.slice(0, -1));
      this.#line = "";
    }
    return parts;
  }

  end(): void {
    if (!this.isDone) throw new MalformedAnswer("The body is cut off");
  }

  #takeLine(line: string): void {
    switch (this.#state) {
      case "size":
        this.#left = sizeOf(line);
        this.#state = this.#left === 0 ? "trailer" : "data";
        return;
      case "data end":
        if (line !== "") throw new MalformedAnswer("A chunk is longer than its size");
        this.#state = "size";
        return;
      default:
        if (line === "") this.#state = "done";
    }
  }
}

/** @throws MalformedAnswer */
function sizeOf(line: string): number {
  const [, digits = ""] = /^([0-9a-f]{1,12})(?:[\t ]*;.*)?$/i.exec(line) ?? [];
  if (digits === "") throw new MalformedAnswer("The size of a chunk is no number");
  return parseInt(digits, 16);
}
