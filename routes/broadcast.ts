/** Waiting frames are sent together, up to this many bytes. */
export const CHUNK_BYTES = 65_536;

/** The frames from an index on that are sent together. */
export function framesOfChunk(frames: readonly Uint8Array[], from: number): readonly Uint8Array[] {
  let to = from;
  for (let bytes = 0; to < frames.length && bytes < CHUNK_BYTES; to++) {
    bytes += frames[to]?.byteLength ?? 0;
  }
  return frames.slice(from, to);
}

/** A reader that is this far behind is disconnected. */
const MAX_EVENTS_BEHIND = 1000;
const MAX_BYTES_BEHIND = 1_048_576;

/** Fewer frames are kept even if all readers have them. */
const LEAST_KEPT = 64;

/** Whether a reader with so many events still to come is too far behind. */
export function isTooMuch(events: number, bytes: number): boolean {
  return events > MAX_EVENTS_BEHIND || bytes > MAX_BYTES_BEHIND;
}

/** A reader of a broadcast. */
export interface Listener {
  /** Called with the next event after {@linkcode Cursor.wait}, once. */
  news(): void;
  /** Called while the reader is too far behind. */
  late(): void;
}

/**
 * The newest events of one source, encoded, for all streams that show it. An event costs the same
 * for any number of streams: each stream has only its position.
 */
export class Broadcast {
  readonly #cursors = new Set<Cursor>();
  /** Those whose listener waits for the next event. */
  #waiting: Cursor[] = [];
  readonly #frames: Uint8Array[] = [];
  /** The number of dropped frames. */
  #dropped = 0;
  /** The bytes of all frames so far, and of the dropped ones. */
  #bytes = 0;
  #droppedBytes = 0;
  #trimAt = LEAST_KEPT;

  /** The number of events so far. */
  get length(): number {
    return this.#dropped + this.#frames.length;
  }

  /** The bytes of all events so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Opens a cursor for the events from now on. */
  open(listener: Listener): Cursor {
    const cursor = new Cursor(this, listener);
    this.#cursors.add(cursor);
    return cursor;
  }

  /** Adds an event. */
  add(frame: Uint8Array): void {
    if (this.#cursors.size === 0) return;
    this.#frames.push(frame);
    this.#bytes += frame.byteLength;
    this.#tell();
    if (isTooMuch(this.#frames.length, this.#bytes - this.#droppedBytes)) this.#stopLate();
    else if (this.#frames.length >= this.#trimAt) this.#trim();
  }

  /** The frames for one chunk from a position. */
  framesFrom(position: number): readonly Uint8Array[] {
    return framesOfChunk(this.#frames, position - this.#dropped);
  }

  wait(cursor: Cursor): void {
    if (cursor.isWaiting) return;
    cursor.isWaiting = true;
    this.#waiting.push(cursor);
  }

  close(cursor: Cursor): void {
    this.#cursors.delete(cursor);
    if (cursor.isWaiting) this.#waiting = this.#waiting.filter((other) => other !== cursor);
    cursor.isWaiting = false;
    if (this.#cursors.size === 0) this.#trim();
  }

  #tell(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const cursor of waiting) {
      // One that a listener has closed meanwhile does not wait any more.
      if (!cursor.isWaiting) continue;
      cursor.isWaiting = false;
      cursor.listener.news();
    }
  }

  #stopLate(): void {
    for (const cursor of [...this.#cursors]) {
      if (isTooMuch(cursor.length, cursor.bytes)) cursor.listener.late();
    }
    this.#trim();
  }

  /** Drops the frames that all readers have. */
  #trim(): void {
    let first = this.length;
    for (const { position } of this.#cursors) first = Math.min(first, position);
    for (const { byteLength } of this.#frames.splice(0, first - this.#dropped)) {
      this.#droppedBytes += byteLength;
    }
    this.#dropped = first;
    this.#trimAt = Math.max(LEAST_KEPT, 2 * this.#frames.length);
  }
}

/** The position of a reader in a broadcast. */
export class Cursor {
  readonly listener: Listener;
  /** Whether the next event calls the listener. */
  isWaiting = false;
  readonly #broadcast: Broadcast;
  /** The number of events before it, and their bytes. */
  #position: number;
  #bytesBefore: number;

  constructor(broadcast: Broadcast, listener: Listener) {
    this.listener = listener;
    this.#broadcast = broadcast;
    this.#position = broadcast.length;
    this.#bytesBefore = broadcast.bytes;
  }

  get position(): number {
    return this.#position;
  }

  /** The number of events still to come. */
  get length(): number {
    return this.#broadcast.length - this.#position;
  }

  /** The bytes of the events still to come. */
  get bytes(): number {
    return this.#broadcast.bytes - this.#bytesBefore;
  }

  /** Takes the frames for one chunk; none if there are none. */
  take(): readonly Uint8Array[] {
    const frames = this.#broadcast.framesFrom(this.#position);
    this.#position += frames.length;
    for (const { byteLength } of frames) this.#bytesBefore += byteLength;
    return frames;
  }

  /** Makes the next event call the listener. */
  wait(): void {
    this.#broadcast.wait(this);
  }

  close(): void {
    this.#broadcast.close(this);
  }
}
