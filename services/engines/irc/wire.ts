/** Lines on their way to clients. */
import { Buffer } from "node:buffer";

const encoder = new TextEncoder();

export interface WireOptions {
  /** The sum of the capabilities that decide its form. */
  readonly form: number;
  /** One line or several, without CR LF. */
  readonly lines: string | readonly string[];
  /** The length of all lines in UTF-8, without CR LF. */
  readonly bytes: number;
  /** Another form of the same message. */
  readonly next: Wire | null;
}

/**
 * One or more whole lines in the form for some capabilities: text for clients in this process,
 * bytes for all others.
 */
export class Wire {
  readonly form: number;
  readonly next: Wire | null;
  /** The bytes that it counts for in a queue. */
  readonly byteLength: number;
  readonly #lines: string | readonly string[];
  /** Streams that send it. */
  #streams = 0;
  #bytes: Uint8Array<ArrayBuffer> | null = null;
  /** The last write that began with it. */
  #write: { readonly wires: readonly Wire[]; readonly bytes: Uint8Array<ArrayBuffer> } | null =
    null;

  constructor(options: WireOptions) {
    const { lines } = options;
    this.form = options.form;
    this.next = options.next;
    this.#lines = lines;
    this.byteLength = options.bytes +
      (typeof lines === "string" ? 1 : lines.length) * "\r\n".length;
  }

  get lines(): readonly string[] {
    return typeof this.#lines === "string" ? [this.#lines] : this.#lines;
  }

  /** The lines, each with CR LF. */
  get text(): string {
    if (typeof this.#lines === "string") return `${this.#lines}\r\n`;
    return this.#lines.map((line) => `${line}\r\n`).join("");
  }

  /** The same in UTF-8, encoded on first use. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes ??= encoder.encode(this.text);
  }

  /** Whether several streams send it, so that it is worth while to encode it once for all. */
  get isShared(): boolean {
    return this.#streams > 1;
  }

  /** Notes that a stream is about to send it. */
  addStream(): void {
    this.#streams++;
  }

  /**
   * The bytes of several wires, of which this is the first: most members of a channel get the same
   * wires in one write, and so the same bytes.
   */
  bytesOf(wires: readonly Wire[]): Uint8Array<ArrayBuffer> {
    if (this.#write === null || !isSame(this.#write.wires, wires)) {
      this.#write = { wires, bytes: encodeAll(wires) };
    }
    return this.#write.bytes;
  }
}

/** Most bytes joined into one write. */
const WRITE_BYTES = 64 * 1024;

/** Lines that wait for a stream, in order. */
export class WireQueue {
  #wires: Wire[] = [];
  #byteLength = 0;

  get byteLength(): number {
    return this.#byteLength;
  }

  get isEmpty(): boolean {
    return this.#wires.length === 0;
  }

  add(wire: Wire): void {
    wire.addStream();
    this.#byteLength += wire.byteLength;
    this.#wires.push(wire);
  }

  clear(): void {
    this.#wires = [];
    this.#byteLength = 0;
  }

  /**
   * Takes lines for one write. The bytes never change afterwards. At least one wire must wait.
   *
   * Lines for this stream alone are encoded together, because one call into the runtime costs more
   * than the bytes of a line.
   */
  take(): Uint8Array<ArrayBuffer> {
    const wires = this.#takeWires();
    const [first] = wires;
    if (first !== undefined && wires.length === 1) return first.bytes;
    return first?.isShared ? first.bytesOf(wires) : encodeAll(wires);
  }

  #takeWires(): readonly Wire[] {
    const wires = this.#wires;
    let count = 0;
    let length = 0;
    for (const { byteLength } of wires) {
      if (count > 0 && length + byteLength > WRITE_BYTES) break;
      length += byteLength;
      count++;
    }
    this.#byteLength -= length;
    this.#wires = count === wires.length ? [] : wires.slice(count);
    return count === wires.length ? wires : wires.slice(0, count);
  }
}

function isSame(some: readonly Wire[], others: readonly Wire[]): boolean {
  if (some.length !== others.length) return false;
  for (let index = 0; index < some.length; index++) {
    if (some[index] !== others[index]) return false;
  }
  return true;
}

/** Encodes several wires; those for one stream alone together with their neighbours. */
function encodeAll(wires: readonly Wire[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let text = "";
  for (const wire of wires) {
    if (!wire.isShared) {
      text += wire.text;
      continue;
    }
    if (text !== "") parts.push(encoder.encode(text));
    text = "";
    parts.push(wire.bytes);
  }
  if (text !== "") parts.push(encoder.encode(text));
  const [first] = parts;
  return first !== undefined && parts.length === 1 ? first : Buffer.concat(parts);
}
