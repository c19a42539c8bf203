import type { EventGap } from "../events/mod.ts";
import type { Notice } from "./notices.ts";

/** Past notices that a reader gets at once. */
export const PAGE = 100;

/** A reader of a project's feed. */
export interface FeedFollower {
  message(notice: Notice): void;
  /** Retention has removed events before the reader got them. */
  gap(gap: EventGap): void;
  /** Called once, when no more notices will come. */
  end(): void;
  /** Whether the reader may still read the project; asked when that may have changed. */
  mayRead(): boolean;
}

/** A page of the log. */
export interface NextNotices {
  readonly notices: readonly Notice[];
  /** The number up to which the log was read. */
  readonly cursor: number;
  /** What retention has removed before them; null if nothing. */
  readonly gap: EventGap | null;
}

export interface FeedReadingOptions {
  readonly follower: FeedFollower;
  /** The number of the event after which it begins. */
  readonly after: number;
  /** Names of the events for the reader; null for all. */
  readonly names: ReadonlySet<string> | null;
  /** Notices after an event, from memory; null if memory does not go back that far. */
  readonly recall: (after: number) => readonly Notice[] | null;
  /** Reads the next notices from the log, and returns how far they go. */
  readonly read: (after: number) => Promise<NextNotices>;
  readonly onClose: () => void;
}

/**
 * Takes one reader through a project's events: first pages from the log, each when the reader asks
 * for more, then the notices in memory, then new ones as they come.
 */
export class FeedReading {
  readonly #options: FeedReadingOptions;
  #cursor: number;
  #isLive = false;
  #isWanted = false;
  #isReading = false;
  #isClosed = false;

  constructor(options: FeedReadingOptions) {
    this.#options = options;
    this.#cursor = options.after;
  }

  /**
   * Delivers the notices in memory, if they go back far enough, and then new ones. A reader who may
   * no longer read the project gets none.
   */
  begin(): void {
    if (this.#options.follower.mayRead()) this.#recall();
    else this.end();
  }

  /** Takes a new notice. */
  take(notice: Notice): void {
    if (this.#isLive) this.#give(notice);
  }

  /** Tells a reader of new notices that some are missing; another one finds out when it reads. */
  miss(gap: EventGap): void {
    if (this.#isLive && !this.#isClosed) this.#options.follower.gap(gap);
  }

  /** The reader has room for more. */
  more(): void {
    this.#isWanted = true;
    if (!this.#isLive && !this.#isReading && !this.#isClosed) void this.#readOn();
  }

  /**
   * Whether new notices come to the reader unasked. Such a stream is cut when the reader falls
   * behind.
   */
  cut(): boolean {
    return this.#isLive;
  }

  /**
   * Ends the reading if the reader may no longer read the project. A change from before the reading
   * may arrive late and ends nothing: the change that took the right away comes later, and the
   * reader gets it first.
   */
  endUnlessAllowed({ seq }: Notice): void {
    if (seq > this.#options.after && !this.#options.follower.mayRead()) this.end();
  }

  /** Ends the reading and notifies the reader. */
  end(): void {
    if (this.#isClosed) return;
    this.close();
    this.#options.follower.end();
  }

  /** Ends the reading without notifying the reader. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.onClose();
  }

  async #readOn(): Promise<void> {
    this.#isReading = true;
    try {
      while (this.#isWanted && !this.#isLive && !this.#isClosed) {
        if (this.#recall()) continue;
        const { notices, cursor, gap } = await this.#options.read(this.#cursor);
        if (gap !== null && !this.#isClosed) this.#options.follower.gap(gap);
        for (const notice of notices) this.#give(notice);
        this.#cursor = Math.max(this.#cursor, cursor);
      }
    } catch {
      // The reader reconnects, and then gets the error.
      this.end();
    } finally {
      this.#isReading = false;
    }
  }

  /**
   * Delivers the next page from memory. After the last page, new notices follow unasked.
   *
   * @returns whether memory goes back that far
   */
  #recall(): boolean {
    const rest = this.#options.recall(this.#cursor);
    if (rest === null) return false;
    for (const notice of rest.slice(0, PAGE)) this.#give(notice);
    this.#isLive = rest.length <= PAGE;
    return true;
  }

  #give(notice: Notice): void {
    const { follower, names } = this.#options;
    if (this.#isClosed || notice.seq <= this.#cursor) return;
    this.#cursor = notice.seq;
    if (notice.isHidden || (names !== null && !names.has(notice.name))) return;
    this.#isWanted = false;
    follower.message(notice);
  }
}
