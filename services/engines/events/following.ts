import type { Scheduler } from "../../kernel/scheduler.ts";
import type { LoggedEvent } from "./rows.ts";

/** Events passed to a follower at once. */
const BATCH = 100;

/** A part of the log that retention has removed. */
export interface EventGap {
  /** The number of the last event that the reader has. */
  readonly from: string;
  /** The number of the oldest kept event. */
  readonly to: string;
}

/** A reader that follows the log. */
export interface EventFollower {
  /** An event. After the last one of a batch, none comes until the follower asks for more. */
  message(event: LoggedEvent): void;
  /** Retention has removed events before the follower got them; the next one comes after them. */
  gap?(gap: EventGap): void;
  /** The log has ended. */
  end(): void;
}

/** The next events, and how far they reach. */
export interface NextEvents {
  readonly events: readonly LoggedEvent[];
  /** The number up to which the log was read. */
  readonly cursor: number;
  /** What is missing before them; absent if nothing. */
  readonly gap?: EventGap | null;
}

export interface FollowingOptions {
  readonly follower: EventFollower;
  /** The number after which it begins. */
  readonly after: number;
  readonly scheduler: Scheduler;
  /** The next events from memory; null if memory does not go back that far. */
  readonly recall: (cursor: number, limit: number) => NextEvents | null;
  /** Reads the next events from the database. */
  readonly read: (cursor: number, limit: number) => Promise<NextEvents>;
  readonly onClose: () => void;
}

/**
 * One reader's position in the log. The log itself is the queue: a slow reader costs only a number.
 */
export class Following {
  readonly #options: FollowingOptions;
  #cursor: number;
  /** Whether the follower waits for requested events. */
  #wanted = false;
  /** Whether events are being read or passed on. */
  #delivering = false;
  /** The last time that it caught up. */
  #catching: Promise<void> | null = null;
  #closed = false;
  #cancel: () => void = () => {};

  constructor(options: FollowingOptions) {
    this.#options = options;
    this.#cursor = options.after;
  }

  /** The number up to which everything was passed on, or is for others. */
  get cursor(): number {
    return this.#cursor;
  }

  /** The follower has room for more. */
  more(): void {
    this.#wanted = true;
    this.advance();
  }

  /** Call this when the log has grown or the follower has room: passes on the events it wants. */
  advance(): void {
    if (this.#delivering) return;
    this.#cancel();
    this.#delivering = true;
    const isBehind = this.#giveRecent();
    this.#delivering = isBehind;
    if (isBehind) this.#catching = this.#catchUp();
  }

  /** Resolves when nothing is being read; for tests. */
  async idle(): Promise<void> {
    let last: Promise<void> | null = null;
    while (last !== this.#catching) await (last = this.#catching);
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

  /** Passes on events from the database, a few at a time, until memory has the rest. */
  async #catchUp(): Promise<void> {
    const { scheduler, read } = this.#options;
    let given = false;
    try {
      given = this.#give(await read(this.#cursor, BATCH));
    } catch {
      // Reading failed. The follower will reconnect, and then receives the error.
      this.end();
    }
    this.#delivering = false;
    if (this.#closed) return;
    if (given || this.#options.recall(this.#cursor, 1) !== null) this.advance();
    else this.#cancel = scheduler.after(0, () => this.advance());
  }

  /** @returns whether events were passed on */
  #give({ events, cursor, gap = null }: NextEvents): boolean {
    this.#cursor = cursor;
    if (gap !== null && !this.#closed) this.#options.follower.gap?.(gap);
    if (events.length === 0) return false;
    this.#wanted = false;
    for (const event of events) {
      if (!this.#closed) this.#options.follower.message(event);
    }
    return true;
  }
}
