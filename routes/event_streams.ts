import { TooMany } from "../services/errors.ts";
import type { Ended, Identity, Principal } from "../services/identity/mod.ts";
import type { Metrics } from "../services/metrics/mod.ts";
import type { Scheduler } from "../services/scheduler.ts";
import { type EventFrames, FrameJoiner } from "./event_frames.ts";
import { EventStream, type Followed, type StreamHost } from "./event_stream.ts";
import { FlushRounds } from "./flush_rounds.ts";

export { EventFrames, jsonLine } from "./event_frames.ts";

const KEEP_ALIVE_MILLISECONDS = 15_000;

const KEEP_ALIVE = new TextEncoder().encode(": keep-alive\n\n");

/** The URL may contain a token, which must not leak to linked pages. */
export const STREAM_HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Accel-Buffering": "no",
} as const;

export interface EventStreamsOptions {
  /** Most open streams. */
  readonly max: number;
  readonly identity: Pick<Identity, "onEnded" | "notePresence">;
  readonly scheduler: Scheduler;
  readonly metrics: Pick<Metrics, "streamOpened" | "streamClosed">;
}

/** What a stream shows. */
export interface StreamSource<Item extends object> {
  /** Makes the stream follow its source; a failure makes opening the stream fail. */
  follow(sink: StreamSink<Item>): Promise<Followed> | Followed;
  /** The encoding of its items. */
  readonly frames: EventFrames<Item>;
}

/** The source's handle on a stream. */
export interface StreamSink<Item extends object> {
  message(item: Item): void;
  /** Ends the stream. */
  end(): void;
}

/**
 * The open event streams (WHATWG HTML, "Server-sent events"). Streams share their work: each
 * message is encoded once for all, messages that come together are sent in one write, and one timer
 * keeps all connections alive. A caller with an open stream counts as present.
 * A stream ends with its credential.
 */
export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #open = new Set<EventStream>();
  #cancelKeepAlive: () => void = () => {};
  readonly #rounds: FlushRounds;
  readonly #host: StreamHost;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
    const joiner = new FrameJoiner();
    this.#rounds = new FlushRounds(options.scheduler, () => joiner.forget());
    this.#host = {
      joiner,
      due: (stream) => this.#rounds.add(stream),
      closed: (stream) => this.#remove(stream),
    };
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
    const stream = new EventStream(principal, this.#host);
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

  /** Closes the streams of an ended credential. */
  #closeEnded(ended: Ended): void {
    for (const stream of [...this.#open]) {
      if (ended.covers(stream.principal)) stream.close();
    }
  }

  #scheduleKeepAlive(): void {
    this.#cancelKeepAlive = this.#options.scheduler.after(KEEP_ALIVE_MILLISECONDS, () => {
      this.#scheduleKeepAlive();
      for (const stream of [...this.#open]) {
        stream.keepAlive(KEEP_ALIVE);
        this.#options.identity.notePresence(stream.principal);
      }
    });
  }

  #remove(stream: EventStream): void {
    this.#open.delete(stream);
    this.#options.metrics.streamClosed();
    if (this.#open.size > 0) return;
    this.#cancelKeepAlive();
    this.#rounds.clear();
  }
}
