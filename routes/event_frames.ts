/** Encoded events, and those that wait for a reader. */

import { isUnescaped } from "../services/engines/irc/mod.ts";
import { Broadcast, CHUNK_BYTES, framesOfChunk } from "./broadcast.ts";

const encoder = new TextEncoder();

/** The events of one kind of stream. Each item is encoded once for all its readers. */
export class EventFrames<Item extends object> {
  readonly #format: (item: Item) => string;
  readonly #frames = new WeakMap<Item, Uint8Array<ArrayBuffer>>();
  /** The last encoded frame: a new item goes to all readers before the next one. */
  #last: { readonly item: Item; readonly frame: Uint8Array<ArrayBuffer> } | null = null;
  readonly #groups = new WeakMap<object, StreamGroup<Item>>();

  /** @param format returns the fields of an item's event, one per line */
  constructor(format: (item: Item) => string) {
    this.#format = format;
  }

  of(item: Item): Uint8Array<ArrayBuffer> {
    if (this.#last?.item === item) return this.#last.frame;
    let frame = this.#frames.get(item);
    if (frame === undefined) {
      frame = this.#encode(item);
      this.#frames.set(item, frame);
    }
    this.#last = { item, frame };
    return frame;
  }

  #encode(item: Item): Uint8Array<ArrayBuffer> {
    return encoder.encode(`${this.#format(item)}\n\n`);
  }

  /** The frame of an item that most readers get through its group: that keeps it for them. */
  #ofNew(item: Item): Uint8Array<ArrayBuffer> {
    if (this.#last?.item !== item) this.#last = { item, frame: this.#encode(item) };
    return this.#last.frame;
  }

  /** The streams that show the new items of a source in this way. */
  groupOf(source: object): StreamGroup<Item> {
    let group = this.#groups.get(source);
    if (group === undefined) {
      const broadcast = new Broadcast();
      group = { broadcast, message: (item) => broadcast.add(this.#ofNew(item)) };
      this.#groups.set(source, group);
    }
    return group;
  }
}

/** Streams that show the same items. */
export interface StreamGroup<Item> {
  readonly broadcast: Broadcast;
  /** Adds an item to all of them. */
  message(item: Item): void;
}

/** Characters that JSON allows in a string, but that some readers treat as line ends. */
const LINE_ENDS = /[\x85\u2028\u2029]/g;

/** A value as JSON on one line, for every definition of a line end. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(
    LINE_ENDS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A text as JSON, as {@linkcode jsonLine} writes it. */
export function jsonLineText(text: string): string {
  return isUnescaped(text) ? `"${text}"` : jsonLine(text);
}

/**
 * Joins several frames to one chunk. Up-to-date readers receive the same frames in turn, so the
 * last chunk usually serves the next reader too.
 */
export class FrameJoiner {
  #frames: readonly Uint8Array[] = [];
  #chunk: Uint8Array | null = null;

  /** Joins frames; null if there are none. */
  join(frames: readonly Uint8Array[]): Uint8Array | null {
    if (frames.length < 2) return frames[0] ?? null;
    if (this.#chunk !== null && isSame(frames, this.#frames)) return this.#chunk;
    const chunk = new Uint8Array(frames.reduce((sum, { byteLength }) => sum + byteLength, 0));
    let offset = 0;
    for (const frame of frames) {
      chunk.set(frame, offset);
      offset += frame.byteLength;
    }
    this.#frames = frames;
    this.#chunk = chunk;
    return chunk;
  }

  /** Drops the last chunk. */
  forget(): void {
    this.#frames = [];
    this.#chunk = null;
  }
}

function isSame(frames: readonly Uint8Array[], others: readonly Uint8Array[]): boolean {
  return frames.length === others.length && frames.every((frame, index) => frame === others[index]);
}

/** Waiting frames and their total bytes. */
export class FrameQueue {
  #frames: Uint8Array[] = [];
  #bytes = 0;

  get length(): number {
    return this.#frames.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(frame: Uint8Array): void {
    this.#frames.push(frame);
    this.#bytes += frame.byteLength;
  }

  /** Takes the frames for one chunk; none if there are none. */
  take(): readonly Uint8Array[] {
    const frames = this.#frames;
    if (this.#bytes <= CHUNK_BYTES) {
      this.clear();
      return frames;
    }
    const taken = framesOfChunk(frames, 0);
    for (const { byteLength } of taken) this.#bytes -= byteLength;
    frames.splice(0, taken.length);
    return taken;
  }

  clear(): void {
    this.#frames = [];
    this.#bytes = 0;
  }
}
