import { Buffer } from "node:buffer";

/** Longest head of an answer, in bytes. */
const MAX_HEAD_BYTES = 262_144;

const LINE_END = "\r\n";

const END = Buffer.from(LINE_END + LINE_END);

/** `HTTP/1.1 200 OK` */
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d{2})(?: |\r\n|$)/;

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** An option of the header `Connection` (RFC 9110, section 7.6.1). */
const CLOSE = /(?:^|,)\s*close\s*(?:,|$)/i;

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
  /** Whether another request may follow. */
  readonly isKept: boolean;
  /** How many bytes it takes. */
  readonly length: number;
}

/** An answer that breaks the rules of HTTP/1.1. */
export class MalformedAnswer extends Error {}

/**
 * Reads the head of an answer (RFC 9112).
 *
 * @param method of the request
 * @returns null if more of it is to come
 * @throws MalformedAnswer
 */
export function readAnswerHead(bytes: Uint8Array, method: string): AnswerHead | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = buffer.indexOf(END);
  if (end < 0) {
    if (bytes.length >= MAX_HEAD_BYTES) throw new MalformedAnswer("The head is too long");
    return null;
  }
  const text = buffer.toString("latin1", 0, end);
  const [, version, digits] = STATUS_LINE.exec(text) ?? [];
  if (digits === undefined) throw new MalformedAnswer("The first line is no status");
  const status = Number(digits);
  const length = end + END.length;
  let declared: string | null = null;
  let isChunked = false;
  let isKept = version === "1";
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
    else if (name === "connection") isKept &&= !CLOSE.test(value);
    headers.push([name, value]);
  }
  if (isChunked && declared !== null) throw new MalformedAnswer("A chunked body has no length");
  const body = bodyLength({ method, status, declared, isChunked });
  return { status, headers, body, isKept: isKept && body.kind !== "rest", length };
}

/** @throws MalformedAnswer if there are others */
function isOnlyChunked(codings: string): true {
  if (codings.toLowerCase() === "chunked") return true;
  throw new MalformedAnswer("A transfer coding is unknown");
}

/** RFC 9112, section 6.3. */
function bodyLength(
  { method, status, declared, isChunked }: {
    readonly method: string;
    readonly status: number;
    readonly declared: string | null;
    readonly isChunked: boolean;
  },
): BodyLength {
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) {
    return { kind: "none" };
  }
  if (isChunked) return { kind: "chunked" };
  if (declared === null) return { kind: "rest" };
  const bytes = /^\d{1,15}$/.test(declared) ? Number(declared) : NaN;
  if (Number.isNaN(bytes)) throw new MalformedAnswer("The length is no number");
  return { kind: "bytes", bytes };
}
