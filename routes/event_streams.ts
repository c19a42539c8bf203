import { TooMany } from "../services/errors.ts";
import type { Ended, Identity, Principal } from "../services/identity/mod.ts";
import type { Metrics } from "../services/metrics/mod.ts";
import type { Scheduler } from "../services/scheduler.ts";

/** A reader that is so far behind is closed. */
const MAX_EVENTS_BEHIND = 1000;
const MAX_BYTES_BEHIND = 1_048_576;

const KEEP_ALIVE_MILLISECONDS = 15_000;

/** Frames that wait for the reader go out together, as long as they are no more than this. */
const CHUNK_BYTES = 65_536;

const encoder = new TextEncoder();

const KEEP_ALIVE = encoder.encode(": keep-alive\n\n");

/** The address may hold a token, which no page that it leads to shall learn. */
export const STREAM_HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Accel-Buffering": "no",
} as const;

export interface EventStreamsOptions {
  /** How many may be open at once. */
  readonly max: number;
  readonly identity: Pick<Identity, "onEnded" | "notePresence">;
  readonly scheduler: Scheduler;
  readonly metrics: Pick<Metrics, "streamOpened" | "streamClosed">;
}

/** What a stream shows. */
export interface StreamSource<Item extends object> {
  /** Makes the stream follow its source; where that fails, opening the stream does. */
  follow(sink: StreamSink<Item>): Promise<Followed> | Followed;
  /** How its items look on the wire. */
  readonly frames: EventFrames<Item>;
}

/** The events of one kind of stream. Each item is encoded once for all its readers. */
export class EventFrames<Item extends object> {
  readonly #format: (item: Item) => string;
  readonly #frames = new WeakMap<Item, Uint8Array<ArrayBuffer>>();

  /** @param format gives the fields of the event that shows an item, one per line */
  constructor(format: (item: Item) => string) {
    this.#format = format;
  }

  of(item: Item): Uint8Array<ArrayBuffer> {
    let frame = this.#frames.get(item);
    if (frame === undefined) {
      frame = encoder.encode(`${this.#format(item)}\n\n`);
      this.#frames.set(item, frame);
    }
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

/** The end of a stream that its source holds. */
export interface StreamSink<Item extends object> {
  message(item: Item): void;
  /** Nothing more will come. */
  end(): void;
}

/**
 * The end of a source that its stream holds: of one that sends what comes, and is cut where its
 * reader falls behind, or of one that sends some more when it is asked.
 */
export interface Followed {
  close(): void;
  /** Absent where the source never sends what it was not asked for; false where it did not now. */
  cut?(): boolean;
  /** Absent where the source sends everything by itself. */
  more?(): void;
}

/**
 * The open event streams (WHATWG HTML, "Server-sent events"). Streams share their work: each message
 * is encoded once for all of them, and one timer keeps all connections alive. A caller with an open
 * stream counts as present. A stream ends with the credential that it was opened by.
 */
export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #open = new Set<EventStream>();
  #cancelKeepAlive: () => void = () => {};

  constructor(options: EventStreamsOptions) {
    this.#options = options;
    options.identity.onEnded((ended) => this.#closeEnded(ended));
  }

  /**
   * Opens a stream for a principal.
   *
   * @throws TooMany
   */
  async open<Item extends object>(
    principal: Principal,
    source: StreamSource<Item>,
  ): Promise<ReadableStream<Uint8Array>> {
    if (this.#open.size >= this.#options.max) throw new TooMany("Too many event streams are open");
    const stream = new EventStream(principal, (closed) => this.#remove(closed));
    this.#open.add(stream);
    this.#options.metrics.streamOpened();
    if (this.#open.size === 1) this.#scheduleKeepAlive();
    try {
      const followed = await source.follow({
        message: (item) => stream.send(source.frames.of(item)),
        end: () => stream.finish(),
      });
      stream.attach(followed);
      return stream.body;
    } catch (error) {
      stream.close();
      throw error;
    }
  }

  /** Closes the streams of a credential that is good for nothing any more. */
  #closeEnded(ended: Ended): void {
    for (const stream of [...this.#open]) {
      if (ended.covers(stream.principal)) stream.close();
    }
  }

  #scheduleKeepAlive(): void {
    this.#cancelKeepAlive = this.#options.scheduler.after(KEEP_ALIVE_MILLISECONDS, () => {
      this.#scheduleKeepAlive();
      for (const stream of [...this.#open]) {
        stream.keepAlive();
        this.#options.identity.notePresence(stream.principal);
      }
    });
  }

  #remove(stream: EventStream): void {
    this.#open.delete(stream);
    this.#options.metrics.streamClosed();
    if (this.#open.size === 0) this.#cancelKeepAlive();
  }
}

/** One reader's stream: frames wait in a queue of its own until it reads on. */
class EventStream {
  readonly principal: Principal;
  readonly body: ReadableStream<Uint8Array>;
  readonly #onClose: (stream: EventStream) => void;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #followed: Followed | null = null;
  /** What the stream began with; how much that is does not count as falling behind. */
  readonly #replay = new FrameQueue();
  readonly #queue = new FrameQueue();
  /** Whether the reader waits for the next chunk. */
  #wanted = false;
  /** Whether nothing will be added to the queue any more. */
  #finished = false;
  #closed = false;

  constructor(principal: Principal, onClose: (stream: EventStream) => void) {
    this.principal = principal;
    this.#onClose = onClose;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#pull(),
      cancel: () => this.#release(),
    }, { highWaterMark: 0 });
  }

  /** Takes what the stream follows, to end that when it is closed. */
  attach(followed: Followed): void {
    if (this.#closed) return followed.close();
    this.#followed = followed;
    if (this.#wanted) this.#askForMore();
  }

  send(frame: Uint8Array): void {
    if (this.#closed || this.#finished) return;
    if (this.#wanted) {
      this.#wanted = false;
      this.#controller.enqueue(frame);
    } else if (this.#followed === null) {
      this.#replay.push(frame);
    } else {
      this.#queue.push(frame);
      this.#limitQueue(this.#followed);
    }
  }

  /** Shows proxies that the connection is in use, unless there is something to send anyway. */
  keepAlive(): void {
    if (this.#isEmpty()) this.send(KEEP_ALIVE);
  }

  /** Closes the stream when its reader has what is in the queue. */
  finish(): void {
    this.#finished = true;
    if (this.#isEmpty()) this.close();
  }

  /** Closes the stream now. */
  close(): void {
    if (this.#closed) return;
    this.#release();
    this.#controller.close();
  }

  #pull(): void {
    const queue = this.#replay.length > 0 ? this.#replay : this.#queue;
    const chunk = queue.take();
    if (chunk === null) {
      this.#wanted = true;
      this.#askForMore();
    } else this.#controller.enqueue(chunk);
    if (this.#finished && this.#isEmpty()) this.close();
  }

  #limitQueue(followed: Followed): void {
    if (this.#queue.length <= MAX_EVENTS_BEHIND && this.#queue.bytes <= MAX_BYTES_BEHIND) return;
    if (followed.cut?.()) this.close();
  }

  #askForMore(): void {
    this.#followed?.more?.();
  }

  #isEmpty(): boolean {
    return this.#replay.length === 0 && this.#queue.length === 0;
  }

  #release(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#replay.clear();
    this.#queue.clear();
    this.#followed?.close();
    this.#onClose(this);
  }
}

/** Frames that wait, and how many bytes they are. */
class FrameQueue {
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
  take(): Uint8Array | null {
    let count = 0;
    let bytes = 0;
    for (const { byteLength } of this.#frames) {
      if (bytes >= CHUNK_BYTES) break;
      bytes += byteLength;
      count++;
    }
    this.#bytes -= bytes;
    const frames = this.#frames.splice(0, count);
    if (frames.length < 2) return frames[0] ?? null;
    const chunk = new Uint8Array(bytes);
    let offset = 0;
    for (const frame of frames) {
      chunk.set(frame, offset);
      offset += frame.byteLength;
    }
    return chunk;
  }

  clear(): void {
    this.#frames = [];
    this.#bytes = 0;
  }
}
