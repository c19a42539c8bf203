import type { Scheduler } from "../services/kernel/scheduler.ts";

/** Up to this many streams are flushed at the end of the current task. */
const AT_ONCE = 8;

/** Streams flushed in one turn of the event loop, so that other tasks can run. */
const PER_TURN = 50;

/** A pause after a round. */
interface Pause {
  /** Its length as a multiple of the round's. */
  readonly factor: number;
  /** Its greatest length, in milliseconds. */
  readonly most: number;
}

const PAUSE: Pause = { factor: 3, most: 50 };

/** The pause after a round with a stream that got many events. */
const LONG_PAUSE: Pause = { factor: 6, most: 100 };

/** So many events of one stream in one round are many. */
const MANY_EVENTS = 4;

/** A stream with frames for a waiting reader. */
export interface Flushable {
  /** Returns the number of events that it sent. */
  flush(): number;
}

/**
 * Decides when streams are flushed.
 *
 * A few streams are flushed at the end of the current task: a turn of the event loop would cost
 * more than they do. Many are flushed in a round of several turns. A pause follows, three times as
 * long as the round, so that rounds take a quarter of the time, and frequent messages share a
 * write. The pause is twice as long while many messages share a write, because the writes are what
 * limits the rate.
 */
export class FlushRounds {
  readonly #scheduler: Scheduler;
  readonly #onFlushed: () => void;
  readonly #macrotask = new Macrotask(() => this.#flush());
  /** The streams of the current task. */
  #due: Flushable[] = [];
  /** The streams of the next round. */
  #next: Flushable[] = [];
  #round: readonly Flushable[] = [];
  /** The number of flushed streams of the round. */
  #flushed = 0;
  /** The most events of one stream in the round. */
  #mostEvents = 0;
  #beganAt = 0;
  #pausedUntil = -Infinity;
  #cancelTimer: (() => void) | null = null;

  /** @param onFlushed called after a round, and after a few streams */
  constructor(scheduler: Scheduler, onFlushed: () => void) {
    this.#scheduler = scheduler;
    this.#onFlushed = onFlushed;
  }

  /** Flushes a stream soon. Call it once until the stream is flushed. */
  add(stream: Flushable): void {
    if (this.#due.push(stream) === 1) queueMicrotask(() => this.#look());
  }

  /** Drops all streams. */
  clear(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#macrotask.cancel();
    this.#due = [];
    this.#next = [];
    this.#round = [];
    this.#flushed = 0;
  }

  #look(): void {
    const due = this.#due;
    this.#due = [];
    if (due.length <= AT_ONCE) {
      for (const stream of due) stream.flush();
      this.#onFlushed();
    } else {
      this.#next = this.#next.length === 0 ? due : this.#next.concat(due);
      this.#beginLater();
    }
  }

  /** Begins the next round when the pause after the last one is over. */
  #beginLater(): void {
    if (this.#round.length > 0 || this.#cancelTimer !== null) return;
    const pause = this.#pausedUntil - this.#scheduler.now();
    if (pause > 0) this.#cancelTimer = this.#scheduler.after(pause, () => this.#begin());
    else this.#begin();
  }

  #begin(): void {
    this.#cancelTimer = null;
    this.#round = this.#next;
    this.#next = [];
    this.#flushed = 0;
    this.#mostEvents = 0;
    this.#beganAt = this.#scheduler.now();
    this.#macrotask.schedule();
  }

  #flush(): void {
    const end = Math.min(this.#flushed + PER_TURN, this.#round.length);
    for (; this.#flushed < end; this.#flushed++) {
      const events = this.#round[this.#flushed]?.flush() ?? 0;
      if (events > this.#mostEvents) this.#mostEvents = events;
    }
    if (this.#flushed < this.#round.length) return this.#macrotask.schedule();
    this.#round = [];
    this.#onFlushed();
    const now = this.#scheduler.now();
    const { factor, most } = this.#mostEvents < MANY_EVENTS ? PAUSE : LONG_PAUSE;
    this.#pausedUntil = now + Math.min(factor * (now - this.#beganAt), most);
    if (this.#next.length > 0) this.#beginLater();
  }
}

/**
 * Runs a callback in the next turn of the event loop, after all promises of the current one. A
 * timer of 0 milliseconds would take one or two milliseconds, as `setImmediate` does in Deno 2.4.
 */
class Macrotask {
  readonly #callback: () => void;
  #channel: MessageChannel | null = null;
  #isScheduled = false;

  constructor(callback: () => void) {
    this.#callback = callback;
  }

  /** Schedules the callback, once per turn. */
  schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#channel ??= this.#open();
    this.#channel.port2.postMessage(null);
  }

  /** Cancels the scheduled callback. */
  cancel(): void {
    this.#channel?.port1.close();
    this.#channel?.port2.close();
    this.#channel = null;
    this.#isScheduled = false;
  }

  #open(): MessageChannel {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      if (channel !== this.#channel) return;
      this.#isScheduled = false;
      this.#callback();
    };
    return channel;
  }
}
