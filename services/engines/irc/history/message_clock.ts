/** Messages that may have the same time. */
const MESSAGES_PER_MILLISECOND = 1000;

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";

/** Assigns messages times that never go back, and ids that never repeat. */
export class MessageClock {
  readonly #clock: () => number;
  readonly #idPrefix: string;
  /** The last id: a beginning, which 36 ids share, and a digit. */
  #idStart: string;
  #idCount = 0;
  #idDigit = 0;
  #lastTime: number;
  #countedTime = 0;
  #countedMessages = 0;
  #textTime = NaN;
  #timeText = "";
  /** The beginning of the last timestamp, to the point after its second. */
  #second = NaN;
  #secondText = "";

  /**
   * @param clock Unix time in milliseconds
   * @param earliest a lower bound for all times, in Unix milliseconds
   */
  constructor(clock: () => number, earliest: number) {
    this.#clock = clock;
    this.#lastTime = earliest;
    const random = crypto.getRandomValues(new Uint32Array(2));
    this.#idPrefix = Array.from(random, (part) => part.toString(36)).join("") + "-";
    this.#idStart = this.#idPrefix;
  }

  /** Unix time in milliseconds; never earlier than it was before. */
  now(): number {
    this.#lastTime = Math.max(this.#lastTime, Math.floor(this.#clock()));
    return this.#lastTime;
  }

  /** The time of the last timestamp, in Unix milliseconds. */
  get stampedAt(): number {
    return this.#textTime;
  }

  /** The current time in the form of a `time` tag. */
  timestamp(): string {
    const now = this.now();
    if (now !== this.#textTime) {
      this.#textTime = now;
      this.#timeText = this.#textOf(now);
    }
    return this.#timeText;
  }

  /**
   * The time of a kept message. At most 1,000 messages share one millisecond, because their
   * microseconds tell them apart.
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

  /** An id that is unique among all messages, even across runs. */
  nextId(): string {
    if (++this.#idDigit === DIGITS.length) {
      this.#idDigit = 0;
      this.#idStart = this.#idPrefix + (++this.#idCount).toString(36);
    }
    return this.#idStart + DIGITS.charAt(this.#idDigit);
  }

  /** As `Date.toISOString`, a fifth of whose time it takes: most times share their second. */
  #textOf(time: number): string {
    const milliseconds = time % 1000;
    const second = time - milliseconds;
    if (second !== this.#second) {
      this.#second = second;
      this.#secondText = new Date(second).toISOString().slice(0, -"000Z".length);
    }
    return `${this.#secondText}${String(milliseconds).padStart(3, "0")}Z`;
  }
}
