import type { Principal } from "../services/people/identity/mod.ts";
import { type Broadcast, type Cursor, isTooMuch } from "./broadcast.ts";
import { type FrameJoiner, FrameQueue } from "./event_frames.ts";

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
  /** Sends something that keeps proxies from closing the connection; absent: a comment does. */
  keepAlive?(): void;
  /** Tells the reader that its credential has ended, before the stream is closed. */
  ended?(): void;
}

/** The shared state of a server's streams. */
export interface StreamHost {
  readonly joiner: FrameJoiner;
  /** Schedules a call of a stream's {@linkcode EventStream.flush}. */
  due(stream: EventStream): void;
  closed(stream: EventStream): void;
}

/**
 * One reader's stream. Frames wait in its queue, or in a broadcast, until the reader reads; a
 * waiting reader receives all frames that come together in one chunk.
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
  /** Its position in a broadcast, whose frames follow those of the queue. */
  #cursor: Cursor | null = null;
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

  /** Adds the broadcast's events from now on to the stream. */
  join(broadcast: Broadcast): void {
    if (this.#closed || this.#finished) return;
    this.#cursor = broadcast.open({
      news: () => this.#expectFlush(),
      late: () => this.#limitBehind(),
    });
    if (this.#wanted) this.#cursor.wait();
  }

  send(frame: Uint8Array): void {
    if (this.#closed || this.#finished) return;
    if (this.#followed === null) return this.#replay.push(frame);
    this.#queue.push(frame);
    if (isTooMuch(this.#queue.length, this.#queue.bytes)) this.#limitBehind();
    else this.#expectFlush();
  }

  /** Sends what waits to the reader, if it waits too, and returns the number of events. */
  flush(): number {
    this.#due = false;
    if (this.#closed || !this.#wanted) return 0;
    const frames = this.#take();
    const chunk = this.#host.joiner.join(frames);
    if (chunk === null) return 0;
    this.#wanted = false;
    this.#controller.enqueue(chunk);
    this.#closeIfFinished();
    return frames.length;
  }

  /**
   * Sends a comment to keep proxies from closing the connection, or what its source has for that,
   * unless there is something to send anyway.
   */
  keepAlive(frame: Uint8Array): void {
    if (!this.#isEmpty()) return;
    if (this.#followed?.keepAlive === undefined) this.send(frame);
    else this.#followed.keepAlive();
  }

  /** Closes the stream once its reader has read what came before. */
  finish(): void {
    this.#leave();
    this.#finished = true;
    this.#closeIfFinished();
  }

  /** Closes the stream because its credential has ended. */
  expel(): void {
    this.#followed?.ended?.();
    this.close();
  }

  /** Closes the stream now. A reader that waits still gets what came before. */
  close(): void {
    this.flush();
    if (this.#closed) return;
    this.#release();
    this.#controller.close();
  }

  #pull(): void {
    const chunk = this.#host.joiner.join(this.#take());
    this.#wanted = chunk === null;
    if (chunk !== null) this.#controller.enqueue(chunk);
    else {
      this.#askForMore();
      this.#cursor?.wait();
    }
    this.#closeIfFinished();
  }

  /** Takes the frames for the next chunk. */
  #take(): readonly Uint8Array[] {
    if (this.#replay.length > 0) return this.#replay.take();
    if (this.#queue.length > 0) return this.#queue.take();
    return this.#cursor?.take() ?? [];
  }

  #expectFlush(): void {
    if (!this.#wanted || this.#due) return;
    this.#due = true;
    this.#host.due(this);
  }

  #closeIfFinished(): void {
    if (this.#finished && this.#isEmpty()) this.close();
  }

  /** Handles too many events for the reader. */
  #limitBehind(): void {
    // A waiting reader is not behind, because it has received nothing yet.
    if (this.#wanted) this.flush();
    else if (this.#followed?.cut?.()) this.close();
  }

  #askForMore(): void {
    this.#followed?.more?.();
  }

  #isEmpty(): boolean {
    return this.#replay.length === 0 && this.#queue.length === 0 && !this.#cursor?.length;
  }

  /** Leaves the broadcast, and keeps the frames from before. */
  #leave(): void {
    const cursor = this.#cursor;
    if (cursor === null) return;
    while (cursor.length > 0) for (const frame of cursor.take()) this.#queue.push(frame);
    cursor.close();
    this.#cursor = null;
  }

  #release(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#replay.clear();
    this.#queue.clear();
    this.#cursor?.close();
    this.#cursor = null;
    this.#followed?.close();
    this.#host.closed(this);
  }
}
