import type { FeedFollower } from "./feeds.ts";
import type { Notice } from "./notices.ts";

/** Notices of the past that a reader is given at once. */
export const PAGE = 100;

export interface FeedReadingOptions {
  readonly follower: FeedFollower;
  /** The number of the event after which it begins. */
  readonly after: number;
  /** Names of the events that the reader wants; null for all. */
  readonly names: ReadonlySet<string> | null;
  /** What came after an event, from memory; null where memory does not go back so far. */
  readonly recall: (after: number) => readonly Notice[] | null;
  /** Reads what came next, and says how far that goes. */
  readonly read: (
    after: number,
  ) => Promise<{ readonly notices: readonly Notice[]; readonly cursor: number }>;
  readonly onClose: () => void;
}

/**
 * One reader's way through a project's events: from the log, a page each time that it asks for more,
 * to what memory holds, and then along with what comes.
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

  /** Hands over what came meanwhile, where memory holds it, and goes on with what comes. */
  begin(): void {
    this.#recall();
  }

  /** Takes what has just happened. */
  take(notice: Notice): void {
    if (this.#isLive) this.#give(notice);
  }

  /** The reader has room for more. */
  more(): void {
    this.#isWanted = true;
    if (!this.#isLive && !this.#isReading && !this.#isClosed) void this.#readOn();
  }

  /** Whether the reader gets what comes without asking, and so can fall behind: it ends then. */
  cut(): boolean {
    return this.#isLive;
  }

  /** Ends it if the reader may not read the project any more. */
  endUnlessAllowed(): void {
    if (!this.#options.follower.mayRead()) this.end();
  }

  /** Ends it, and notifies the reader. */
  end(): void {
    if (this.#isClosed) return;
    this.close();
    this.#options.follower.end();
  }

  /** Ends it; the reader is not told. */
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
        const { notices, cursor } = await this.#options.read(this.#cursor);
        for (const notice of notices) this.#give(notice);
        this.#cursor = Math.max(this.#cursor, cursor);
      }
    } catch {
      // The reader comes back, and is then told why.
      this.end();
    } finally {
      this.#isReading = false;
    }
  }

  /**
   * Hands over the next page from memory. What comes after the last one comes by itself.
   *
   * @returns whether memory goes back so far
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
