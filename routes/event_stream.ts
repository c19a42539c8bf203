import type { Principal } from "../services/identity/mod.ts";
import { type FrameJoiner, FrameQueue } from "./event_frames.ts";

/** A reader that is so far behind is closed. */
const MAX_EVENTS_BEHIND = 1000;
const MAX_BYTES_BEHIND = 1_048_576;

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

/** What the streams of a server share. */
export interface StreamHost {
  readonly joiner: FrameJoiner;
  /** Has a stream's {@linkcode EventStream.flush} called soon. */
  due(stream: EventStream): void;
  closed(stream: EventStream): void;
}

/**
 * One reader's stream. Frames wait in a queue of its own until it reads on; a reader that waits gets
 * together what comes in one turn of the event loop.
 */
export class EventStream {
  readonly principal: Principal;
  readonly body: ReadableStream<Uint8Array>;
  readonly #host: StreamHost;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #followed: Followed | null = null;
  /** What the stream began with; how much that is does not count as falling behind. */
  readonly #replay = new FrameQueue();
  readonly #queue = new FrameQueue();
  /** Whether the reader waits for the next chunk. */
  #wanted = false;
  /** Whether the reader waits and is about to get what is in the queue. */
  #due = false;
  /** Whether nothing will be added to the queue any more. */
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

  /** Takes what the stream follows, to end that when it is closed. */
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
      // The reader is not behind: it has not been handed anything yet.
      this.flush();
    } else if (!this.#due) {
      this.#due = true;
      this.#host.due(this);
    }
  }

  /** Hands the reader what came for it, if it waits. */
  flush(): void {
    this.#due = false;
    if (this.#closed || !this.#wanted) return;
    const chunk = this.#queue.take(this.#host.joiner);
    if (chunk === null) return;
    this.#wanted = false;
    this.#controller.enqueue(chunk);
    this.#closeIfFinished();
  }

  /** Shows proxies that the connection is in use, unless there is something to send anyway. */
  keepAlive(frame: Uint8Array): void {
    if (this.#isEmpty()) this.send(frame);
  }

  /** Closes the stream when its reader has what is in the queue. */
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
