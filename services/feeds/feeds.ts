import { Invalid } from "../errors.ts";
import {
  type EventGap,
  type EventLog,
  type Following,
  gapAfter,
  type LoggedEvent,
} from "../events/mod.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { type FeedFollower, FeedReading, type NextNotices, PAGE } from "./feed_reading.ts";
import { type Notice, noticeOf } from "./notices.ts";

/** Newest notices kept in memory, for readers that reconnect. */
const RECENT = 1000;

/** Pause before the log is followed again after a failure, in milliseconds. */
const RETRY_MS = 1000;

/** Events that may change who can read a project. */
const CHANGES_ACCESS: ReadonlySet<string> = new Set(["changed", "member_changed", "removed"]);

/** The events that a reader wants. */
export interface FeedQuery {
  /** Events after this one; by default, only new events. */
  readonly after?: number | undefined;
  /** Names of events; by default, all. */
  readonly names?: readonly string[] | undefined;
}

export interface FeedsOptions {
  readonly eventLog: EventLog;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Streams the events of projects to their readers. One reader of the log serves them all: an event
 * costs one query and is serialised once, however many readers its project has.
 */
export class Feeds {
  readonly #options: FeedsOptions;
  readonly #readings = new Map<string, Set<FeedReading>>();
  #following: Following | null = null;
  /** The newest notices, oldest first; none is missing after {@link #recentAfter}. */
  #recent: Notice[] = [];
  #recentAfter = 0;
  /** The number of the last event that was passed on. */
  #position = 0;
  #cancelRetry: () => void = () => {};
  #isClosed = false;

  constructor(options: FeedsOptions) {
    this.#options = options;
    this.#followLog(options.eventLog.newest);
  }

  /** The number of readers. */
  get readers(): number {
    let count = 0;
    for (const readings of this.#readings.values()) count += readings.size;
    return count;
  }

  /**
   * Streams a project's events, beginning after `after`. Events that are no longer in memory come
   * in pages, each when the reader asks for more; the rest comes unasked.
   *
   * @throws Invalid if `after` lies beyond the end of the log
   */
  follow(projectId: string, { after, names }: FeedQuery, follower: FeedFollower): FeedReading {
    const { newest } = this.#options.eventLog;
    if (after !== undefined && after > newest) {
      throw new Invalid(`"after" must be at most ${newest}, the number of the newest event`);
    }
    const readings = this.#readings.get(projectId) ?? new Set();
    const reading: FeedReading = new FeedReading({
      follower,
      after: after ?? newest,
      names: names === undefined ? null : new Set(names),
      recall: (cursor) => this.#recall(projectId, cursor),
      read: (cursor) => this.#read(projectId, cursor),
      onClose: () => {
        readings.delete(reading);
        if (readings.size === 0 && this.#readings.get(projectId) === readings) {
          this.#readings.delete(projectId);
        }
      },
    });
    if (this.#isClosed) {
      reading.end();
      return reading;
    }
    readings.add(reading);
    this.#readings.set(projectId, readings);
    reading.begin();
    return reading;
  }

  /** Ends every reader. */
  close(): void {
    this.#isClosed = true;
    this.#cancelRetry();
    this.#following?.close();
    this.#endAll();
  }

  #followLog(after: number): void {
    this.#recent = [];
    this.#recentAfter = after;
    this.#position = after;
    this.#following = this.#options.eventLog.follow({ after, types: ["project.*"] }, {
      message: (event) => this.#take(event),
      gap: (gap) => this.#missed(gap),
      end: () => this.#logEnded(),
    });
    this.#following.more();
  }

  /** The log could not be read, or is closed. Readers reconnect and continue where they were. */
  #logEnded(): void {
    this.#endAll();
    if (this.#isClosed) return;
    const { scheduler, eventLog } = this.#options;
    this.#cancelRetry = scheduler.after(RETRY_MS, () => this.#followLog(eventLog.newest));
  }

  /** Retention has removed events before this reader of the log got them. */
  #missed(gap: EventGap): void {
    this.#recent = [];
    this.#recentAfter = Number(gap.to) - 1;
    for (const readings of this.#readings.values()) {
      for (const reading of [...readings]) reading.miss(gap);
    }
  }

  #take(event: LoggedEvent): void {
    this.#following?.more();
    this.#position = event.seq;
    const notice = noticeOf(event);
    if (notice === null) return;
    this.#recent.push(notice);
    if (this.#recent.length > RECENT) this.#recentAfter = this.#recent.shift()?.seq ?? event.seq;
    const readings = this.#readings.get(notice.projectId);
    if (readings === undefined) return;
    for (const reading of [...readings]) this.#pass(reading, notice);
    if (CHANGES_ACCESS.has(notice.name)) {
      for (const reading of [...readings]) reading.endUnlessAllowed(notice);
    }
  }

  /** An error in one reader must not keep the notice from the others. */
  #pass(reading: FeedReading, notice: Notice): void {
    try {
      reading.take(notice);
    } catch (error) {
      this.#options.log.error("A reader of a project's events failed", { error });
      reading.close();
    }
  }

  /** Notices after an event; null if memory does not go back that far. */
  #recall(projectId: string, after: number): readonly Notice[] | null {
    if (after >= this.#position) return [];
    if (after < this.#recentAfter) return null;
    return this.#recent.filter((notice) => notice.seq > after && notice.projectId === projectId);
  }

  async #read(
    project: string,
    after: number,
  ): Promise<NextNotices> {
    const page = await this.#options.eventLog.read({ after, project, limit: PAGE });
    const notices = page.events.map(noticeOf).filter((notice) => notice !== null);
    return { notices, cursor: page.cursor, gap: gapAfter(after, page.oldest) };
  }

  #endAll(): void {
    for (const readings of [...this.#readings.values()]) {
      for (const reading of [...readings]) reading.end();
    }
  }
}
