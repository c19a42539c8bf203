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

/** Events that come next, and how far they go. */
export interface NextEvents {
  readonly events: readonly LoggedEvent[];
  /** The number up to which the log was read. */
  readonly cursor: number;
}

export interface FollowingOptions {
  readonly follower: EventFollower;
  /** The number after which it begins. */
  readonly after: number;
  readonly scheduler: Scheduler;
  /** What comes next, from memory; null where memory does not go back so far. */
  readonly recall: (cursor: number, limit: number) => NextEvents | null;
  /** Reads what comes next from the database. */
  readonly read: (cursor: number, limit: number) => Promise<NextEvents>;
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
  /** Whether events are being read or given; this goes on by itself. */
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
    const isBehind = this.#giveRecent();
    this.#delivering = isBehind;
    if (isBehind) void this.#catchUp();
  }

  /** Ends it because the log is closed, and notifies the follower. */
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

  /** @returns whether the follower wants events that are no longer in memory */
  #giveRecent(): boolean {
    try {
      while (this.#wanted && !this.#closed) {
        const next = this.#options.recall(this.#cursor, BATCH);
        if (next === null) return true;
        if (!this.#give(next)) return false;
      }
    } catch {
      this.end();
    }
    return false;
  }

  /** Gives events from the database, a little at a time, until memory has those that follow. */
  async #catchUp(): Promise<void> {
    const { scheduler, read } = this.#options;
    let given = false;
    try {
      given = this.#give(await read(this.#cursor, BATCH));
    } catch {
      // Reading failed. The follower comes back, and is then told why.
      this.end();
    }
    this.#delivering = false;
    if (this.#closed) return;
    if (given || this.#options.recall(this.#cursor, 1) !== null) this.advance();
    else this.#cancel = scheduler.after(0, () => this.advance());
  }

  /** @returns whether anything was given */
  #give({ events, cursor }: NextEvents): boolean {
    this.#cursor = cursor;
    if (events.length === 0) return false;
    this.#wanted = false;
    for (const event of events) {
      if (!this.#closed) this.#options.follower.message(event);
    }
    return true;
  }
}
