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
const KIND = { json: 0, v8: 1, parts: 2 } as const;

/** The key of an object that stands for a part: where it lies, its length, and whether it is text. */
const PART = "\0part";
type Place = readonly [start: number, length: number, isText: 0 | 1];

/** Shorter texts stay in the head, in UTF-16 units. */
const LONG_TEXT = 4096;

/** What is read at once; longer messages are read into bytes of their own. */
const BUFFER_BYTES = 64 * 1024;

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

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
    const bytes = typeof part === "string" ? ENCODER.encode(part) : part;
    const place: Place = [this.length, bytes.length, typeof part === "string" ? 1 : 0];
    this.all.push(bytes);
    this.length += bytes.length;
    return { [PART]: place };
  }
}

/**
 * Encodes a message. Long parts of it are not copied.
 *
 * @throws an error of V8 if the message has what cannot be sent
 */
export function encodeMessage(message: unknown): readonly Uint8Array[] {
  const parts = new Parts();
  try {
    const head = ENCODER.encode(JSON.stringify(parts.outline(message)));
    return framed(parts.all.length === 0 ? KIND.json : KIND.parts, head, parts);
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
  // What V8 makes of bytes may share them.
  if (kind === KIND.v8) return deserialize(head.slice());
  const message: unknown = JSON.parse(DECODER.decode(head));
  return kind === KIND.parts ? filled(message, parts) : message;
}

/** Puts the parts in their places. */
function filled(value: unknown, parts: Uint8Array<ArrayBuffer>): unknown {
  if (typeof value !== "object" || value === null) return value;
  const object = value as Record<string, unknown>;
  const place = object[PART] as Place | undefined;
  if (place !== undefined) {
    const [start, length, isText] = place;
    const bytes = parts.subarray(start, start + length);
    return isText === 1 ? DECODER.decode(bytes) : bytes;
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
  let buffer = new Uint8Array(BUFFER_BYTES);
  let [start, end] = [0, 0];
  for (;;) {
    const has = end - start;
    let length = PREFIX;
    if (has >= PREFIX) {
      const view = new DataView(buffer.buffer, start);
      const [kind, head, parts] = [view.getUint32(0), view.getUint32(4), view.getUint32(8)];
      length += head + parts;
      if (length > max) throw new RangeError("A message is too long");
      if (has >= length) {
        const from = start + PREFIX;
        const isOwn = length > BUFFER_BYTES;
        const [at, to] = [from + head, start + length];
        const bytes = isOwn ? buffer.subarray(at, to) : buffer.slice(at, to);
        yield decode(kind, buffer.subarray(from, at), bytes);
        start = to;
        if (!isOwn) continue;
        // The message keeps its buffer, which has nothing else.
        buffer = new Uint8Array(BUFFER_BYTES);
        [start, end] = [0, 0];
        continue;
      }
    }
    // What is here moves to the beginning, in a buffer with room for the whole message.
    const next = length > buffer.length ? new Uint8Array(length) : buffer;
    if (next === buffer) buffer.copyWithin(0, start, end);
    else next.set(buffer.subarray(start, end));
    [buffer, start, end] = [next, 0, has];
    const read = await wire.read(buffer.subarray(end));
    if (read === null) return;
    end += read;
  }
}
