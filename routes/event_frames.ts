/** Events as they look on the wire, and those that wait for a reader. */

/** Frames that wait for the reader go out together, as long as they are no more than this. */
const CHUNK_BYTES = 65_536;

const encoder = new TextEncoder();

/** The events of one kind of stream. Each item is encoded once for all its readers. */
export class EventFrames<Item extends object> {
  readonly #format: (item: Item) => string;
  readonly #frames = new WeakMap<Item, Uint8Array<ArrayBuffer>>();
  /** The one that was asked for last: a new item goes to all readers before the next one. */
  #last: { readonly item: Item; readonly frame: Uint8Array<ArrayBuffer> } | null = null;

  /** @param format gives the fields of the event that shows an item, one per line */
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

/** What JSON allows within a string, and readers of lines may take for the end of one. */
const LINE_ENDS = /[\x85\u2028\u2029]/g;

/** A value as JSON on one line, whatever the reader takes for the end of one. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(
    LINE_ENDS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Makes one chunk of several frames. Readers that are up to date are sent the same frames one after
 * the other, so that the last chunk mostly serves the next reader too.
 */
export class FrameJoiner {
  #frames: readonly Uint8Array[] = [];
  #chunk: Uint8Array | null = null;

  /** @param bytes how many the frames are together */
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

  /** Lets go of the last chunk. */
  forget(): void {
    this.#frames = [];
    this.#chunk = null;
  }
}

function isSame(frames: readonly Uint8Array[], others: readonly Uint8Array[]): boolean {
  return frames.length === others.length && frames.every((frame, index) => frame === others[index]);
}

/** Frames that wait, and how many bytes they are. */
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

  /** Takes as many frames as make a chunk, or null where there is none. */
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
