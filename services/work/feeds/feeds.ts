import { Invalid } from "../../kernel/errors.ts";
import {
  type EventGap,
  type EventLog,
  type Following,
  gapAfter,
  type LoggedEvent,
} from "../../engines/events/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

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

/** Past notices that a reader gets at once. */
const PAGE = 100;

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
interface NextNotices {
  readonly notices: readonly Notice[];
  /** The number up to which the log was read. */
  readonly cursor: number;
  /** What retention has removed before them; null if nothing. */
  readonly gap: EventGap | null;
}

interface FeedReadingOptions {
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
class FeedReading {
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

const PREFIX = "project.";

/** Events that only admins of a project may see. */
const HIDDEN: ReadonlySet<string> = new Set([
  "member_changed",
  "mirror_changed",
  "webhook_changed",
]);

/** An event of a project as its streams and webhooks show it. */
export interface Notice {
  /** The number of the event in the log, which is the cursor everywhere. */
  readonly seq: number;
  /** Internal id of the project. */
  readonly projectId: string;
  /** The type without `project.`, such as `checkin` or `claim`. */
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Whether only admins of the project may see it. */
  readonly isHidden: boolean;
}

/**
 * Makes a notice of a logged event. It has the event's fields without internal ids. Fields for
 * which the contract and the upstream service use different names have both.
 *
 * @returns null for an event of no project
 */
export function noticeOf({ seq, type, time, actor, data }: LoggedEvent): Notice | null {
  const { project_id: projectId, ...fields } = data;
  if (!type.startsWith(PREFIX) || typeof projectId !== "string") return null;
  const name = type.slice(PREFIX.length);
  return {
    seq,
    projectId,
    name,
    time,
    data: { timestamp: time, ...bothNames(name, fields), actor },
    isHidden: HIDDEN.has(name),
  };
}

/** Adds fields under upstream's names, where those differ. */
function bothNames(
  name: string,
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { agent, ticket } = fields;
  return {
    ...(agent === undefined ? {} : { agent_id: agent }),
    ...(name === "claim" || name === "ticket" ? { ticket_uuid: ticket } : {}),
    ...fields,
  };
}
