/**
 * Messages between processes, as bytes: two lengths, a head, and parts. The head is JSON; bytes and
 * long texts of the message are parts, in whose place it has where they lie. What JSON cannot carry
 * is serialized by V8 as a whole, which costs ten times as much for a short message.
 */
import { deserialize, serialize } from "node:v8";

/** What is used of a connection. */
export type Wire = Pick<Deno.Conn, "read" | "write">;

/** Bytes before a head: its kind, its length and that of the parts. */
const PREFIX = 12;
const KIND = { json: 0, v8: 1 } as const;

/** The key of an object that stands for a part: where it lies, its length, and whether it is text. */
const PART = "\0part";
type Place = readonly [start: number, length: number, isText: 0 | 1];

/** Shorter texts stay in the head, in UTF-16 units. */
const LONG_TEXT = 4096;

/** What is read at once; longer messages are read into bytes of their own. */
const BUFFER_BYTES = 64 * 1024;

/** JSON cannot carry it. */
class NotJson extends Error {}

/** Encodes messages. */
class Parts {
  readonly all: Uint8Array[] = [];
  length = 0;

  /** A value for the head; itself, if nothing of it is a part. */
  outline(value: unknown): unknown {
    switch (typeof value) {
      case "string":
        return value.length < LONG_TEXT || !value.isWellFormed() ? value : this.#add(value);
      case "boolean":
        return value;
      case "number":
        if (Number.isFinite(value)) return value;
        break;
      case "object":
        if (value === null) return value;
        if (value instanceof Uint8Array) return this.#add(value);
        if (Array.isArray(value)) return this.#list(value);
        if (Object.getPrototypeOf(value) === Object.prototype) return this.#properties(value);
    }
    throw new NotJson();
  }

  #list(values: readonly unknown[]): unknown {
    const shown = values.map((value) => this.outline(value));
    return shown.every((one, index) => one === values[index]) ? values : shown;
  }

  #properties(object: object): unknown {
    let copy: Record<string, unknown> | null = null;
    for (const [key, value] of Object.entries(object)) {
      if (key === PART || key === "__proto__" || key === "toJSON") throw new NotJson();
      if (value === undefined) continue;
      const shown = this.outline(value);
      if (shown !== value) (copy ??= { ...object })[key] = shown;
    }
    return copy ?? object;
  }

  #add(part: string | Uint8Array): unknown {
    const bytes = typeof part === "string" ? new TextEncoder().encode(part) : part;
    const place: Place = [this.length, bytes.length, typeof part === "string" ? 1 : 0];
    this.all.push(bytes);
    this.length += bytes.length;
    return { [PART]: place };
  }
}

/**
 * Encodes a message; what is long of it is not copied.
 *
 * @throws an error of V8 if the message has what cannot be sent
 */
export function encodeMessage(message: unknown): readonly Uint8Array[] {
  const parts = new Parts();
  try {
    const head = new TextEncoder().encode(JSON.stringify(parts.outline(message)));
    return framed(KIND.json, head, parts);
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    return framed(KIND.v8, serialize(message), new Parts());
  }
}

function framed(kind: number, head: Uint8Array, { all, length }: Parts): readonly Uint8Array[] {
  const isShort = head.length + length < BUFFER_BYTES;
  const first = new Uint8Array(PREFIX + head.length + (isShort ? length : 0));
  const prefix = new DataView(first.buffer);
  prefix.setUint32(0, kind);
  prefix.setUint32(4, head.length);
  prefix.setUint32(8, length);
  first.set(head, PREFIX);
  if (!isShort) return [first, ...all];
  let at = PREFIX + head.length;
  for (const part of all) {
    first.set(part, at);
    at += part.length;
  }
  return [first];
}

function decode(kind: number, head: Uint8Array, parts: Uint8Array<ArrayBuffer>): unknown {
  if (kind === KIND.v8) return deserialize(head);
  const message: unknown = JSON.parse(new TextDecoder().decode(head));
  return parts.length === 0 ? message : filled(message, parts);
}

/** Puts the parts in their places. */
function filled(value: unknown, parts: Uint8Array<ArrayBuffer>): unknown {
  if (typeof value !== "object" || value === null) return value;
  const object = value as Record<string, unknown>;
  const place = object[PART] as Place | undefined;
  if (place !== undefined) {
    const [start, length, isText] = place;
    const bytes = parts.subarray(start, start + length);
    return isText === 1 ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) : bytes;
  }
  for (const key of Object.keys(object)) object[key] = filled(object[key], parts);
  return object;
}

/**
 * Sends an encoded message. Send the next one when this one is sent.
 *
 * @throws what the connection throws
 */
export async function sendMessage(wire: Wire, message: readonly Uint8Array[]): Promise<void> {
  for (const bytes of message) {
    for (let sent = 0; sent < bytes.length;) sent += await wire.write(bytes.subarray(sent));
  }
}

/**
 * The messages that come, until the connection ends.
 *
 * @param max the longest message, in bytes
 * @throws RangeError if one is longer; what the connection throws
 */
export async function* messagesOf(wire: Wire, max: number): AsyncGenerator<unknown> {
  const source = new Source(wire);
  for (;;) {
    const prefix = await source.take(PREFIX);
    if (prefix === null) return;
    const view = new DataView(prefix.buffer, prefix.byteOffset);
    const [kind, head, parts] = [view.getUint32(0), view.getUint32(4), view.getUint32(8)];
    if (head + parts > max) throw new RangeError("A message is too long");
    const bytes = await source.take(head + parts);
    if (bytes === null) return;
    yield decode(kind, bytes.subarray(0, head), bytes.subarray(head));
  }
}

/** The bytes of a connection. */
class Source {
  readonly #wire: Wire;
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  #start = 0;
  #end = 0;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** So many bytes, which are the caller's; null if the connection ends before. */
  async take(length: number): Promise<Uint8Array<ArrayBuffer> | null> {
    const taken = new Uint8Array(length);
    let has = this.#move(taken, 0);
    while (has < length) {
      const isLong = length - has >= BUFFER_BYTES;
      const read = await this.#wire.read(isLong ? taken.subarray(has) : this.#buffer);
      if (read === null) return null;
      if (isLong) has += read;
      else {
        [this.#start, this.#end] = [0, read];
        has += this.#move(taken, has);
      }
    }
    return taken;
  }

  /** Moves what is here; returns how much. */
  #move(taken: Uint8Array, at: number): number {
    const moved = this.#buffer.subarray(
      this.#start,
      Math.min(this.#end, this.#start + taken.length - at),
    );
    taken.set(moved, at);
    this.#start += moved.length;
    return moved.length;
  }
}
