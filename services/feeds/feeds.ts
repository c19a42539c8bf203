import { Invalid } from "../errors.ts";
import type { EventLog, Following, LoggedEvent } from "../events/mod.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { FeedReading, PAGE } from "./feed_reading.ts";
import { type Notice, noticeOf } from "./notices.ts";

/** Newest notices that are kept in memory, for readers that come back. */
const RECENT = 1000;

/** How long after a failure the log is followed again, in milliseconds. */
const RETRY_MS = 1000;

/** What may change who reads a project. */
const CHANGES_ACCESS: ReadonlySet<string> = new Set(["changed", "member_changed", "removed"]);

/** A reader of a project's feed. */
export interface FeedFollower {
  message(notice: Notice): void;
  /** No more will come. */
  end(): void;
  /** Whether the reader may still read the project; asked when that may have changed. */
  mayRead(): boolean;
}

/** Where a reader begins, and what it wants. */
export interface FeedQuery {
  /** Only what came after this event; what comes from now on where it is absent. */
  readonly after?: number | undefined;
  /** Names of events; all where absent. */
  readonly names?: readonly string[] | undefined;
}

export interface FeedsOptions {
  readonly eventLog: EventLog;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * The events of projects for those who read along. The log is followed once for all of them: an event
 * costs one query and is put into words once, however many readers its project has.
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

  /** How many read a project, or all of them. */
  get readers(): number {
    let count = 0;
    for (const readings of this.#readings.values()) count += readings.size;
    return count;
  }

  /**
   * Reads a project's events, first those that came after `after`. Of what is no longer in memory the
   * reader gets a page each time that it asks for more; the rest comes by itself.
   *
   * @throws Invalid where `after` lies beyond the end of the log
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
      end: () => this.#logEnded(),
    });
    this.#following.more();
  }

  /** The log could not be read, or is closed. Readers come back, and go on where they were. */
  #logEnded(): void {
    this.#endAll();
    if (this.#isClosed) return;
    const { scheduler, eventLog } = this.#options;
    this.#cancelRetry = scheduler.after(RETRY_MS, () => this.#followLog(eventLog.newest));
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
      for (const reading of [...readings]) reading.endUnlessAllowed();
    }
  }

  /** One reader's fault must not keep a notice from the others. */
  #pass(reading: FeedReading, notice: Notice): void {
    try {
      reading.take(notice);
    } catch (error) {
      this.#options.log.error("A reader of a project's events failed", { error });
      reading.close();
    }
  }

  /** What came after an event; null where memory does not go back so far. */
  #recall(projectId: string, after: number): readonly Notice[] | null {
    if (after >= this.#position) return [];
    if (after < this.#recentAfter) return null;
    return this.#recent.filter((notice) => notice.seq > after && notice.projectId === projectId);
  }

  async #read(
    project: string,
    after: number,
  ): Promise<{ readonly notices: readonly Notice[]; readonly cursor: number }> {
    const page = await this.#options.eventLog.read({ after, project, limit: PAGE });
    const notices = page.events.map(noticeOf).filter((notice) => notice !== null);
    return { notices, cursor: page.cursor };
  }

  #endAll(): void {
    for (const readings of [...this.#readings.values()]) {
      for (const reading of [...readings]) reading.end();
    }
  }
}
