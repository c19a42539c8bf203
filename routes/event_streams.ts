import {
  CallerQuota,
  type Ended,
  type Holder,
  type Identity,
} from "../services/people/identity/mod.ts";
import type { Metrics } from "../services/operation/metrics/mod.ts";
import type { Draining } from "../services/cluster/nodes/mod.ts";
import type { Scheduler } from "../services/kernel/scheduler.ts";
import { EventFrames, FrameJoiner, jsonLine } from "./event_frames.ts";
import { EventStream, type Followed, type StreamHost } from "./event_stream.ts";
import { FlushRounds } from "./flush_rounds.ts";

export { EventFrames, jsonLine, jsonLineText } from "./event_frames.ts";

const KEEP_ALIVE_MILLISECONDS = 15_000;

/** How many streams end in a step, when all shall end. */
const DISMISSED_AT_ONCE = 50;

/** The time between two such steps. */
const DISMISS_EVERY_MILLISECONDS = 500;

const KEEP_ALIVE = new TextEncoder().encode(": keep-alive\n\n");

/** Without an id: a reader that reconnects then continues after its last item. */
const GAPS = new EventFrames<object>((gap) => `event: gap\ndata: ${jsonLine(gap)}`);

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
  /** Says when the readers shall go to another node; null if there can be no other one. */
  readonly draining: Pick<Draining, "onLeave"> | null;
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
  /** Tells that items between two places may be missing; its event is named `gap`. */
  gap(gap: { readonly from: string; readonly to: string | null }): void;
  /** Ends the stream. */
  end(): void;
  /**
   * Makes the stream continue with all later items of a source, which then come once for all its
   * streams.
   *
   * @returns takes the items
   */
  join(source: object): { message(item: Item): void };
}

/**
 * The open event streams (WHATWG HTML, "Server-sent events"). Streams share their work: each
 * message is encoded once for all, messages that come together are sent in one write, and one timer
 * keeps all connections alive. A caller with an open stream counts as present.
 * A stream ends with its credential. {@linkcode CallerQuota} bounds their number.
 */
export class EventStreams {
  readonly #options: EventStreamsOptions;
  /** Each open stream, with the function that gives its place back. */
  readonly #open = new Map<EventStream, Disposable>();
  readonly #quota: CallerQuota;
  #cancelKeepAlive: () => void = () => {};
  readonly #rounds: FlushRounds;
  readonly #host: StreamHost;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
    this.#quota = new CallerQuota(options.max, { things: "event streams", state: "open" });
    const joiner = new FrameJoiner();
    this.#rounds = new FlushRounds(options.scheduler, () => joiner.forget());
    this.#host = {
      joiner,
      due: (stream) => this.#rounds.add(stream),
      closed: (stream) => this.#remove(stream),
    };
    options.identity.onEnded((ended) => this.#closeEnded(ended));
    options.draining?.onLeave(() => this.#dismiss([...this.#open.keys()]));
  }

  /**
   * Opens a stream for a caller.
   *
   * @throws TooMany
   */
  async open<Item extends object>(
    caller: Holder,
    source: StreamSource<Item>,
  ): Promise<ReadableStream<Uint8Array>> {
    const held = this.#quota.take(caller);
    const stream = new EventStream(caller.principal, this.#host);
    this.#open.set(stream, held);
    this.#options.metrics.streamOpened();
    if (this.#open.size === 1) this.#scheduleKeepAlive();
    try {
      const followed = await source.follow(sinkOf(stream, source.frames));
      stream.attach(followed);
      return stream.body;
    } catch (error) {
      stream.close();
      throw error;
    }
  }

  /** Closes the streams of an ended credential. */
  #closeEnded(ended: Ended): void {
    for (const stream of [...this.#open.keys()]) {
      if (ended.covers(stream.principal)) stream.expel();
    }
  }

  /** Ends streams a few at a time: their readers come back one after the other. */
  #dismiss(streams: readonly EventStream[]): void {
    for (const stream of streams.slice(0, DISMISSED_AT_ONCE)) stream.finish();
    const others = streams.slice(DISMISSED_AT_ONCE);
    if (others.length === 0) return;
    this.#options.scheduler.after(DISMISS_EVERY_MILLISECONDS, () => this.#dismiss(others));
  }

  #scheduleKeepAlive(): void {
    this.#cancelKeepAlive = this.#options.scheduler.after(KEEP_ALIVE_MILLISECONDS, () => {
      this.#scheduleKeepAlive();
      for (const stream of [...this.#open.keys()]) {
        stream.keepAlive(KEEP_ALIVE);
        this.#options.identity.notePresence(stream.principal);
      }
    });
  }

  #remove(stream: EventStream): void {
    this.#open.get(stream)?.[Symbol.dispose]();
    this.#open.delete(stream);
    this.#options.metrics.streamClosed();
    if (this.#open.size > 0) return;
    this.#cancelKeepAlive();
    this.#rounds.clear();
  }
}

function sinkOf<Item extends object>(
  stream: EventStream,
  frames: EventFrames<Item>,
): StreamSink<Item> {
  return {
    message: (item) => stream.send(frames.of(item)),
    gap: ({ from, to }) => stream.send(GAPS.of({ from, to })),
    end: () => stream.finish(),
    join(source) {
      const group = frames.groupOf(source);
      stream.join(group.broadcast);
      return group;
    },
  };
}
