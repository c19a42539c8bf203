/** Messages that may have the same time. */
const MESSAGES_PER_MILLISECOND = 1000;

/** Gives messages their times, which never go back, and their ids, which never come again. */
export class MessageClock {
  readonly #clock: () => number;
  readonly #idPrefix: string;
  #lastId = 0;
  #lastTime: number;
  #countedTime = 0;
  #countedMessages = 0;
  #textTime = NaN;
  #timeText = "";

  /**
   * @param clock Unix time in milliseconds
   * @param earliest before which no message is, in Unix milliseconds
   */
  constructor(clock: () => number, earliest: number) {
    this.#clock = clock;
    this.#lastTime = earliest;
    const random = crypto.getRandomValues(new Uint32Array(2));
    this.#idPrefix = Array.from(random, (part) => part.toString(36)).join("") + "-";
  }

  /** Unix time in milliseconds; never earlier than it was before. */
  now(): number {
    this.#lastTime = Math.max(this.#lastTime, Math.floor(this.#clock()));
    return this.#lastTime;
  }

  /** The present as a `time` tag has it. */
  timestamp(): string {
    const now = this.now();
    if (now !== this.#textTime) {
      this.#textTime = now;
      this.#timeText = new Date(now).toISOString();
    }
    return this.#timeText;
  }

  /**
   * The time of a message that is kept. No more of them have the same one than there are
   * microseconds in it to tell them apart.
   */
  nextTimestamp(): string {
    const now = this.now();
    if (now !== this.#countedTime) {
      this.#countedTime = now;
      this.#countedMessages = 0;
    }
    if (++this.#countedMessages === MESSAGES_PER_MILLISECOND) this.#lastTime = now + 1;
    return this.timestamp();
  }

  /** An id that no other message has, of this run or another. */
  nextId(): string {
    return this.#idPrefix + (++this.#lastId).toString(36);
  }
}
