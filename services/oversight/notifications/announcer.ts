import { Unavailable } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { Semaphore } from "../../kernel/semaphore.ts";
import { type Line, summaryOf } from "./lines.ts";

/** Shortest pause between two lines of one kind in one place, in milliseconds. */
const PACE_MS = 1000;

/** Most lines that wait for one place while one is sent; further ones are dropped and logged. */
const MAX_WAITING = 49;

export interface AnnouncerOptions {
  /** Sends a line to a place, with the id of a message, if it has one; rejects if it cannot. */
  readonly say: (place: string, text: string, id: string | undefined) => Promise<void>;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** A line to send. */
export interface AnnouncedLine extends Line {
  /** The id of its message. What stands for several lines has that of the last one. */
  readonly id?: string;
}

/** The lines of one kind since the last one that was sent. */
interface Held {
  count: number;
  last: AnnouncedLine;
  cancel: () => void;
  /** Settles when what is sent of them is sent. */
  readonly said: PromiseWithResolvers<void>;
}

/**
 * Sends lines at a pace that people can read: at most one of each kind per second and place. Lines
 * in between become one: the only line itself, or their number.
 */
export class Announcer {
  readonly #options: AnnouncerOptions;
  readonly #held = new Map<string, Held>();
  /** The lines for one place are sent one after the other. */
  readonly #sending = new Semaphore({
    permitsPerKey: 1,
    maxWaitingPerKey: MAX_WAITING,
    refusal: () => new Unavailable("Too many lines wait"),
  });
  /** The places whose last line could not be sent or had no room, which is logged once. */
  readonly #failing = new Set<string>();
  #isClosed = false;

  constructor(options: AnnouncerOptions) {
    this.#options = options;
  }

  /**
   * Sends a line to a channel or a nick, now or as part of a summary.
   *
   * @returns settles when it is sent or given up; rejects if the announcer closes before
   */
  announce(place: string, line: AnnouncedLine): Promise<void> {
    const { kind } = line;
    if (this.#isClosed) return closed();
    const key = `${place} ${kind}`;
    const held = this.#held.get(key);
    if (held !== undefined) {
      held.count++;
      held.last = line;
      return held.said.promise;
    }
    const said = this.#say(place, line);
    this.#pause(key, line, (count, last) => {
      const text = count === 1 ? last.text : summaryOf(kind, count);
      return this.#say(place, { ...last, text });
    });
    return said;
  }

  /** Resolves when every line that may be sent now is sent; for tests. */
  async idle(): Promise<void> {
    await this.#sending.idle();
  }

  /** Sends nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { cancel, said } of this.#held.values()) {
      cancel();
      said.resolve(closed());
    }
    this.#held.clear();
    await this.idle();
  }

  #pause(
    key: string,
    last: AnnouncedLine,
    say: (count: number, last: AnnouncedLine) => Promise<void>,
  ): void {
    const said = Promise.withResolvers<void>();
    // Nobody may wait for it.
    said.promise.catch(() => {});
    const held: Held = { count: 0, last, cancel: () => {}, said };
    this.#held.set(key, held);
    held.cancel = this.#options.scheduler.after(PACE_MS, () => {
      this.#held.delete(key);
      if (held.count === 0) return;
      said.resolve(say(held.count, held.last));
      this.#pause(key, held.last, say);
    });
  }

  /** Rejects if it closes before the line's turn; settles also if the line cannot be sent. */
  async #say(place: string, { text, id }: AnnouncedLine): Promise<void> {
    const permit = await this.#sending.acquire(place).catch(() => null);
    if (permit === null) return this.#warn("Too many lines wait; further ones are dropped", place);
    using _permit = permit;
    if (this.#isClosed) return await closed();
    try {
      await this.#options.say(place, text, id);
      this.#failing.delete(place);
    } catch (error) {
      this.#warn("A line could not be sent to IRC", place, { error });
    }
  }

  #warn(message: string, place: string, details: { readonly error?: unknown } = {}): void {
    if (!this.#failing.has(place)) this.#options.log.warn(message, { place, ...details });
    this.#failing.add(place);
  }
}

function closed(): Promise<never> {
  const rejected = Promise.reject(new Error("Lines are no longer sent"));
  rejected.catch(() => {});
  return rejected;
}
