/** Encoded events, and those that wait for a reader. */

/** Waiting frames are sent together, up to this many bytes. */
const CHUNK_BYTES = 65_536;

const encoder = new TextEncoder();

/** The events of one kind of stream. Each item is encoded once for all its readers. */
export class EventFrames<Item extends object> {
  readonly #format: (item: Item) => string;
  readonly #frames = new WeakMap<Item, Uint8Array<ArrayBuffer>>();
  /** The last encoded frame: a new item goes to all readers before the next one. */
  #last: { readonly item: Item; readonly frame: Uint8Array<ArrayBuffer> } | null = null;

  /** @param format returns the fields of an item's event, one per line */
  constructor(format: (item: Item) => string) {
    this.#format = format;
  }

  of(item: Item): Uint8Array<ArrayBuffer> {
    if (this.#last?.item === item) return this.#last.frame;
    let frame = this.#frames.get(item);
    if (frame === undefined) {
      frame = encoder.encode(`${this.#format(item)}\n\n`);
      this.#frames.set(item, frame);
    }
    this.#last = { item, frame };
    return frame;
  }
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

/**
 * Joins several frames to one chunk. Up-to-date readers receive the same frames in turn, so the
 * last chunk usually serves the next reader too.
 */
export class FrameJoiner {
  #frames: readonly Uint8Array[] = [];
  #chunk: Uint8Array | null = null;

  /** @param bytes the total length of the frames */
  join(frames: readonly Uint8Array[], bytes: number): Uint8Array {
    if (this.#chunk !== null && isSame(frames, this.#frames)) return this.#chunk;
    const chunk = new Uint8Array(bytes);
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

  /** Takes frames for one chunk, or null if there are none. */
  take(joiner: FrameJoiner): Uint8Array | null {
    const [frames, bytes] = this.#takeChunk();
    return frames.length < 2 ? frames[0] ?? null : joiner.join(frames, bytes);
  }

  #takeChunk(): [frames: Uint8Array[], bytes: number] {
    const [frames, all] = [this.#frames, this.#bytes];
    if (all <= CHUNK_BYTES) {
      this.clear();
      return [frames, all];
    }
    let count = 0;
    let bytes = 0;
    for (const { byteLength } of frames) {
      if (bytes >= CHUNK_BYTES) break;
      bytes += byteLength;
      count++;
    }
    this.#bytes -= bytes;
    return [frames.splice(0, count), bytes];
  }

  clear(): void {
    this.#frames = [];
    this.#bytes = 0;
  }
}
