import type { Principal } from "../services/identity/mod.ts";
import { type FrameJoiner, FrameQueue } from "./event_frames.ts";

/** A reader that is this far behind is disconnected. */
const MAX_EVENTS_BEHIND = 1000;
const MAX_BYTES_BEHIND = 1_048_576;

/**
 * A stream's handle on its source. Either the source sends events as they come, and its stream is
 * cut if the reader falls behind, or it sends more on request.
 */
export interface Followed {
  close(): void;
  /** Absent if the source sends only on request; false if the stream must not be cut now. */
  cut?(): boolean;
  /** Absent if the source sends everything without requests. */
  more?(): void;
}

/** The shared state of a server's streams. */
export interface StreamHost {
  readonly joiner: FrameJoiner;
  /** Schedules a call of a stream's {@linkcode EventStream.flush}. */
  due(stream: EventStream): void;
  closed(stream: EventStream): void;
}

/**
 * One reader's stream. Frames wait in its queue until the reader reads; a waiting reader receives
 * all frames that come together in one chunk.
 */
export class EventStream {
  readonly principal: Principal;
  readonly body: ReadableStream<Uint8Array>;
  readonly #host: StreamHost;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #followed: Followed | null = null;
  /** The initial frames of the stream, which do not count as falling behind. */
  readonly #replay = new FrameQueue();
  readonly #queue = new FrameQueue();
  /** Whether the reader waits for the next chunk. */
  #wanted = false;
  /** Whether the reader waits and will receive the queue soon. */
  #due = false;
  /** Whether the queue is complete. */
  #finished = false;
  #closed = false;

  constructor(principal: Principal, host: StreamHost) {
    this.principal = principal;
    this.#host = host;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#pull(),
      cancel: () => this.#release(),
    }, { highWaterMark: 0 });
  }

  /** Sets the source of the stream, which is closed with it. */
  attach(followed: Followed): void {
    if (this.#closed) return followed.close();
    this.#followed = followed;
    if (this.#wanted) this.#askForMore();
  }

  send(frame: Uint8Array): void {
    if (this.#closed || this.#finished) return;
    if (this.#followed === null) return this.#replay.push(frame);
    this.#queue.push(frame);
    if (!this.#wanted) {
      this.#limitQueue(this.#followed);
    } else if (this.#isFull()) {
      // The reader is not behind, because it has received nothing yet.
      this.flush();
    } else if (!this.#due) {
      this.#due = true;
      this.#host.due(this);
    }
  }

  /** Sends the queue to the reader, if it waits. */
  flush(): void {
    this.#due = false;
    if (this.#closed || !this.#wanted) return;
    const chunk = this.#queue.take(this.#host.joiner);
    if (chunk === null) return;
    this.#wanted = false;
    this.#controller.enqueue(chunk);
    this.#closeIfFinished();
  }

  /**
   * Sends a comment to keep proxies from closing the connection, unless there is something to send
   * anyway.
   */
  keepAlive(frame: Uint8Array): void {
    if (this.#isEmpty()) this.send(frame);
  }

  /** Closes the stream once its reader has read the queue. */
  finish(): void {
    this.#finished = true;
    this.#closeIfFinished();
  }

  /** Closes the stream now. A reader that waits still gets what came before. */
  close(): void {
    this.flush();
    if (this.#closed) return;
    this.#release();
    this.#controller.close();
  }

  #pull(): void {
    const queue = this.#replay.length > 0 ? this.#replay : this.#queue;
    const chunk = queue.take(this.#host.joiner);
    this.#wanted = chunk === null;
    if (chunk === null) this.#askForMore();
    else this.#controller.enqueue(chunk);
    this.#closeIfFinished();
  }

  #closeIfFinished(): void {
    if (this.#finished && this.#isEmpty()) this.close();
  }

  #limitQueue(followed: Followed): void {
    if (this.#isFull() && followed.cut?.()) this.close();
  }

  #isFull(): boolean {
    return this.#queue.length > MAX_EVENTS_BEHIND || this.#queue.bytes > MAX_BYTES_BEHIND;
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
    this.#host.closed(this);
  }
}
