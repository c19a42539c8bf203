import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { type Line, summaryOf } from "./lines.ts";

/** Shortest pause between two lines of one kind in one place, in milliseconds. */
const PACE_MS = 1000;

/** Most waiting lines for one place; further ones are dropped, which is logged. */
const MAX_WAITING = 50;

export interface AnnouncerOptions {
  /** Sends a line to a place; rejects if it cannot. */
  readonly say: (place: string, text: string) => Promise<void>;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** The lines of one kind since the last one that was sent. */
interface Held {
  count: number;
  only: string;
  cancel: () => void;
}

/** The lines for one place, sent one after the other. */
interface Queue {
  waiting: number;
  last: Promise<void>;
  /** Whether the last line could not be sent, which is logged once. */
  isFailing: boolean;
}

/**
 * Sends lines at a pace that people can read: at most one of each kind per second and place. Lines
 * in between become one: the only line itself, or their number.
 */
export class Announcer {
  readonly #options: AnnouncerOptions;
  readonly #held = new Map<string, Held>();
  readonly #queues = new Map<string, Queue>();
  #isClosed = false;

  constructor(options: AnnouncerOptions) {
    this.#options = options;
  }

  /** Sends a line to a channel or a nick, now or as part of a summary. */
  announce(place: string, { kind, text }: Line): void {
    if (this.#isClosed) return;
    const key = `${place} ${kind}`;
    const held = this.#held.get(key);
    if (held !== undefined) {
      held.count++;
      held.only = text;
      return;
    }
    this.#say(place, text);
    this.#pause(key, (count, only) => {
      this.#say(place, count === 1 ? only : summaryOf(kind, count));
    });
  }

  /** Resolves when every line that may be sent now is sent; for tests. */
  async idle(): Promise<void> {
    await Promise.all(Array.from(this.#queues.values(), ({ last }) => last));
  }

  /** Sends nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { cancel } of this.#held.values()) cancel();
    this.#held.clear();
    await this.idle();
  }

  #pause(key: string, say: (count: number, only: string) => void): void {
    const held: Held = { count: 0, only: "", cancel: () => {} };
    this.#held.set(key, held);
    held.cancel = this.#options.scheduler.after(PACE_MS, () => {
      this.#held.delete(key);
      if (held.count === 0) return;
      say(held.count, held.only);
      this.#pause(key, say);
    });
  }

  #say(place: string, text: string): void {
    const { say, log } = this.#options;
    const queue = this.#queues.get(place) ??
      { waiting: 0, last: Promise.resolve(), isFailing: false };
    this.#queues.set(place, queue);
    if (queue.waiting >= MAX_WAITING) return;
    queue.waiting++;
    queue.last = queue.last.then(async () => {
      try {
        if (!this.#isClosed) await say(place, text);
        queue.isFailing = false;
      } catch (error) {
        if (!queue.isFailing) log.warn("A line could not be sent to IRC", { place, error });
        queue.isFailing = true;
      }
      queue.waiting--;
      if (queue.waiting === 0 && !queue.isFailing) this.#queues.delete(place);
    });
  }
}
