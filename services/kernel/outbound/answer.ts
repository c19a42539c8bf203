/** Reads answers of HTTP/1.1 (RFC 9112): their heads, and the framing of their bodies. */
import { Buffer } from "node:buffer";

/** Longest head of an answer, in bytes. */
const MAX_HEAD_BYTES = 16_384;

/** Longest line between chunks, in bytes: a size with its extensions, or a trailer. */
const MAX_LINE = 8192;

const LF = 10;

const LINE_END = "\r\n";

const END = Buffer.from(LINE_END + LINE_END);

/** `HTTP/1.1 200 OK` */
const STATUS_LINE = /^HTTP\/1\.[01] ([1-5]\d{2})(?: |\r\n|$)/;

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** How long the body of an answer is. */
export type BodyLength =
  | { readonly kind: "none" }
  | { readonly kind: "bytes"; readonly bytes: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "rest" };

/** The head of an answer. */
export interface AnswerHead {
  readonly status: number;
  /** In order, with names in lower case. A name may come more than once. */
  readonly headers: [name: string, value: string][];
  readonly body: BodyLength;
  /** How many bytes it takes. */
  readonly length: number;
}

/** An answer that breaks the rules of HTTP/1.1. */
export class MalformedAnswer extends Error {}

/** An answer whose connection ended before the body did. */
export class CutAnswer extends MalformedAnswer {}

/**
 * Reads the head of an answer to a GET or POST (RFC 9112).
 *
 * @returns null if more of it is to come
 * @throws MalformedAnswer
 */
export function readAnswerHead(bytes: Uint8Array): AnswerHead | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = buffer.indexOf(END);
  if (end < 0) {
    if (bytes.length >= MAX_HEAD_BYTES) {
      throw new MalformedAnswer("The response's head is too long");
    }
    return null;
  }
  const text = buffer.toString("latin1", 0, end);
  const [, digits] = STATUS_LINE.exec(text) ?? [];
  if (digits === undefined) throw new MalformedAnswer("The response is not HTTP");
  const status = Number(digits);
  const length = end + END.length;
  let declared: string | null = null;
  let isChunked = false;
  const headers: [string, string][] = [];
  for (let start = text.indexOf(LINE_END); start >= 0;) {
    const next = text.indexOf(LINE_END, start + LINE_END.length);
    const line = text.slice(start + LINE_END.length, next < 0 ? text.length : next);
    start = next;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!TOKEN.test(name)) throw new MalformedAnswer("A line is no header");
    const value = line.slice(colon + 1).trim();
    if (name === "content-length") {
      if (declared !== null && declared !== value) throw new MalformedAnswer("Two lengths differ");
      declared = value;
    } else if (name === "transfer-encoding") isChunked = isOnlyChunked(value);
    headers.push([name, value]);
  }
  if (isChunked && declared !== null) throw new MalformedAnswer("A chunked body has no length");
  const body = bodyLength({ status, declared, isChunked });
  return { status, headers, body, length };
}

/** @throws MalformedAnswer if there are others */
function isOnlyChunked(codings: string): true {
  if (codings.toLowerCase() === "chunked") return true;
  throw new MalformedAnswer("A transfer coding is unknown");
}

/** RFC 9112, section 6.3. */
function bodyLength(
  { status, declared, isChunked }: {
    readonly status: number;
    readonly declared: string | null;
    readonly isChunked: boolean;
  },
): BodyLength {
  if (status < 200 || status === 204 || status === 304) {
    return { kind: "none" };
  }
  if (isChunked) return { kind: "chunked" };
  if (declared === null) return { kind: "rest" };
  const bytes = /^\d{1,15}$/.test(declared) ? Number(declared) : NaN;
  if (Number.isNaN(bytes)) throw new MalformedAnswer("The length is no number");
  return { kind: "bytes", bytes };
}

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
    if (!this.isDone) {
      throw new CutAnswer("The connection was closed in the middle of the response");
    }
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
    if (!this.isDone) {
      throw new CutAnswer("The connection was closed in the middle of the response");
    }
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
