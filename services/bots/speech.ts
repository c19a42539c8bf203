import { type Rate, TokenBucket } from "../kernel/token_bucket.ts";
import { ServiceError, TooMany, Unavailable } from "../errors.ts";
import type { Scheduler } from "../scheduler.ts";
import type { BotVoice } from "./voices.ts";

/** Most lines that wait for their turn. */
const MAX_WAITING = 1000;

interface WaitingLine {
  readonly send: (voice: BotVoice) => Promise<void>;
  /** Who waits for it; null if nobody does. */
  readonly awaited: PromiseWithResolvers<void> | null;
}

export interface SpeechOptions {
  readonly voice: () => BotVoice | null;
  /** How fast the bot speaks. */
  readonly pace: () => Rate;
  readonly scheduler: Scheduler;
  /** Called with the number of lines that were not said since the last call. */
  readonly onDropped: (count: number) => void;
}

/** How long a bot waits before it tells how many lines it did not say, in milliseconds. */
const TELL_DROPPED_MS = 60_000;

/** The lines that a bot says: one after the other, at its pace, and at most so many waiting. */
export class Speech {
  readonly #options: SpeechOptions;
  #waiting: WaitingLine[] = [];
  readonly #bucket: TokenBucket;
  #isSending = false;
  /** Ends the wait for the turn of the next line; null without such a wait. */
  #cancel: (() => void) | null = null;
  #dropped = 0;
  #cancelTelling: (() => void) | null = null;

  constructor(options: SpeechOptions) {
    this.#options = options;
    this.#bucket = new TokenBucket(options.pace(), options.scheduler.now());
  }

  say(channel: string, lines: readonly string[], mentions: boolean): void {
    for (const line of lines) this.#add((voice) => voice.say(channel, line, mentions));
  }

  tell(nick: string, lines: readonly string[]): void {
    for (const line of lines) this.#add((voice) => voice.tell(nick, line));
  }

  /**
   * Says lines, and resolves when IRC has them.
   *
   * @throws TooMany if too many lines wait, Unavailable if the bot leaves IRC before, and what the
   * voice throws
   */
  async deliver(channel: string, lines: readonly string[]): Promise<void> {
    await Promise.all(lines.map((line) => {
      const awaited = Promise.withResolvers<void>();
      this.#add((voice) => voice.say(channel, line, false), awaited);
      return awaited.promise;
    }));
  }

  /** Forgets what waits. */
  close(): void {
    if (this.#cancel !== null) this.#isSending = false;
    this.#cancel?.();
    this.#cancel = null;
    this.#cancelTelling?.();
    this.#cancelTelling = null;
    for (const { awaited } of this.#waiting.splice(0)) awaited?.reject(away());
  }

  #add(send: WaitingLine["send"], awaited: WaitingLine["awaited"] = null): void {
    if (this.#waiting.length >= MAX_WAITING) {
      return this.#refuse({ send, awaited }, new TooMany("Too many lines wait already", 60));
    }
    this.#waiting.push({ send, awaited });
    if (!this.#isSending) this.#sendNext();
  }

  #sendNext(): void {
    const voice = this.#options.voice();
    const [next] = this.#waiting;
    this.#isSending = next !== undefined;
    if (next === undefined) return;
    const delay = this.#take();
    if (delay > 0) {
      this.#cancel = this.#options.scheduler.after(delay, () => {
        this.#cancel = null;
        this.#sendNext();
      });
      return;
    }
    this.#waiting.shift();
    if (voice === null) {
      this.#refuse(next, away());
      return this.#sendNext();
    }
    next.send(voice).then(() => next.awaited?.resolve(), (error: unknown) => {
      this.#refuse(next, error);
    }).finally(() => this.#sendNext());
  }

  /** A line is not said: who waits for it learns why; if nobody does, it is counted. */
  #refuse({ awaited }: WaitingLine, error: unknown): void {
    if (awaited !== null) return awaited.reject(error);
    if (!(error instanceof ServiceError)) throw error;
    this.#drop();
  }

  /** Takes the turn of one line; returns the milliseconds until there is one, or 0. */
  #take(): number {
    const { scheduler, pace } = this.#options;
    const now = scheduler.now();
    this.#bucket.follow(pace(), now);
    // A later change of the settings ends a pause.
    return Math.min(this.#bucket.tryTake(now), 1000);
  }

  #drop(): void {
    this.#dropped++;
    const { scheduler, onDropped } = this.#options;
    this.#cancelTelling ??= scheduler.after(TELL_DROPPED_MS, () => {
      this.#cancelTelling = null;
      const dropped = this.#dropped;
      this.#dropped = 0;
      onDropped(dropped);
    });
  }
}

function away(): Unavailable {
  return new Unavailable("The bot is not on IRC");
}
