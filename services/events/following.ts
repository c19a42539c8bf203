import type { Scheduler } from "../scheduler.ts";
import type { LoggedEvent } from "./rows.ts";

/** Events that a follower is given at once. */
const BATCH = 100;

/** A reader that follows the log. */
export interface EventFollower {
  /** An event. After the last one of a batch, none comes until the follower asks for more. */
  message(event: LoggedEvent): void;
  /** No more will come. */
  end(): void;
}

export interface FollowingOptions {
  readonly follower: EventFollower;
  /** The number after which it begins. */
  readonly after: number;
  readonly scheduler: Scheduler;
  /** Reads what comes next, and says how far that goes. */
  readonly read: (cursor: number, limit: number) => {
    readonly events: readonly LoggedEvent[];
    readonly cursor: number;
  };
  readonly onClose: () => void;
}

/**
 * One reader's place in the log. The log itself is the queue: a slow reader costs no more than the
 * number that it has come to.
 */
export class Following {
  readonly #options: FollowingOptions;
  #cursor: number;
  /** Whether the follower has asked for more and got nothing yet. */
  #wanted = false;
  #delivering = false;
  #closed = false;
  #cancel: () => void = () => {};

  constructor(options: FollowingOptions) {
    this.#options = options;
    this.#cursor = options.after;
  }

  /** The follower has room for more. */
  more(): void {
    this.#wanted = true;
    this.advance();
  }

  /** The log has grown, or the follower has room: gives it what there is, if it wants it. */
  advance(): void {
    if (this.#delivering) return;
    this.#cancel();
    this.#delivering = true;
    try {
      while (this.#wanted && !this.#closed) {
        if (!this.#deliver()) break;
      }
    } catch {
      // Reading failed. The follower comes back, and is then told why.
      this.end();
    } finally {
      this.#delivering = false;
    }
  }

  /** Ends it because the log is closed; the follower is told. */
  end(): void {
    if (this.#closed) return;
    this.close();
    this.#options.follower.end();
  }

  /** Ends it; the follower is not told. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancel();
    this.#options.onClose();
  }

  /** @returns whether anything was given */
  #deliver(): boolean {
    const { follower, scheduler, read } = this.#options;
    const before = this.#cursor;
    const { events, cursor } = read(before, BATCH);
    this.#cursor = cursor;
    if (events.length === 0) {
      if (cursor > before) this.#cancel = scheduler.after(0, () => this.advance());
      return false;
    }
    this.#wanted = false;
    for (const event of events) {
      if (!this.#closed) follower.message(event);
    }
    return true;
  }
}
