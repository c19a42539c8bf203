import { DAMAGED, type Database } from "../database/mod.ts";
import { Invalid } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { type EventFollower, Following } from "./following.ts";
import { EventRows, type LoggedEvent, matches, type Span } from "./rows.ts";

/** Rows that one look into the database goes through at most. */
const WINDOW = 2000;

/** Looks that one query takes at most; then it answers with what it has, and where it is. */
const MAX_WINDOWS = 1000;

/** Newest events that are kept in memory, for readers that follow the log. */
const RECENT = 1000;

/** Events that a query gives where it does not say. */
const DEFAULT_LIMIT = 100;

const EVERY_TYPE: readonly string[] = ["*"];

export interface EventLogOptions {
  readonly database: Database;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** What a reader of the log wants. */
export interface EventQuery {
  /** The first events after this number; without it, the last ones of the log. */
  readonly after?: number | undefined;
  /** Types of events, each whole or with `*` for its end, such as `agent.*`; all where absent. */
  readonly types?: readonly string[] | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
}

/** Part of the log. */
export interface EventPage {
  /** Oldest first. */
  readonly events: readonly LoggedEvent[];
  /** The number up to which the log was read: what the next query gives as `after`. */
  readonly cursor: number;
  /** Whether there is more after the cursor. */
  readonly more: boolean;
  /** The number of the oldest event that retention has kept; 0 where the log is empty. */
  readonly oldest: number;
}

/**
 * The event log for its readers. An event's number is the cursor: a reader that names the last number
 * it has seen gets every later event, without gap or repeat, however long it was away.
 */
export class EventLog {
  readonly #rows: EventRows;
  readonly #scheduler: Scheduler;
  readonly #log: Log;
  readonly #followings = new Set<Following>();
  readonly #unsubscribe: () => void;
  /** The newest events without a gap, up to {@link #newest}. */
  #recent: LoggedEvent[] = [];
  #newest: number;
  #closed = false;

  constructor({ database, scheduler, log }: EventLogOptions) {
    this.#rows = new EventRows(database);
    this.#scheduler = scheduler;
    this.#log = log;
    this.#newest = this.#rows.ends().newest;
    this.#unsubscribe = database.onAppended(() => this.#advance());
  }

  /**
   * Reads part of the log. Where few events match, it may give fewer than the limit though there
   * are more: the cursor says how far it came.
   *
   * @throws Invalid where `after` lies beyond the end of the log
   */
  async read({ after, types = EVERY_TYPE, limit = DEFAULT_LIMIT }: EventQuery): Promise<EventPage> {
    const { oldest, newest } = this.#rows.ends();
    if (after === undefined) {
      const events = await this.#readBack({ after: oldest - 1, until: newest, types, limit });
      return { events, cursor: newest, more: false, oldest };
    }
    this.#assertInside(after, newest);
    const from = Math.max(after, oldest - 1);
    const { events, cursor } = await this.#readOn({ after: from, until: newest, types, limit });
    return { events, cursor, more: cursor < newest, oldest };
  }

  /**
   * Follows the log after a number, or from now on.
   *
   * @returns what the follower asks for more by; nothing comes before it does
   * @throws Invalid where `after` lies beyond the end of the log
   */
  follow({ after, types = EVERY_TYPE }: EventQuery, follower: EventFollower): Following {
    const { oldest, newest } = this.#rows.ends();
    if (after !== undefined) this.#assertInside(after, newest);
    const following = new Following({
      follower,
      after: after === undefined ? newest : Math.max(after, oldest - 1),
      scheduler: this.#scheduler,
      read: (cursor, limit) => this.#next({ after: cursor, until: this.#newest, types, limit }),
      onClose: () => this.#followings.delete(following),
    });
    if (this.#closed) following.end();
    else this.#followings.add(following);
    return following;
  }

  /** Ends everybody's following. */
  close(): void {
    this.#closed = true;
    this.#unsubscribe();
    for (const following of [...this.#followings]) following.end();
  }

  #assertInside(after: number, newest: number): void {
    if (after > newest) {
      throw new Invalid(`"after" must be at most ${newest}, the number of the newest event`);
    }
  }

  /** Takes what was appended, once for all that follow. */
  #advance(): void {
    try {
      this.#takeNewest();
    } catch (error) {
      this.#log.error("The event log cannot be read", { error });
      for (const following of [...this.#followings]) following.end();
    }
    for (const following of [...this.#followings]) following.advance();
  }

  #takeNewest(): void {
    const until = Number.MAX_SAFE_INTEGER;
    let events: LoggedEvent[];
    do {
      events = this.#rows.first({ after: this.#newest, until, types: EVERY_TYPE, limit: RECENT });
      this.#newest = events.at(-1)?.seq ?? this.#newest;
      this.#recent = [...this.#recent, ...events].slice(-RECENT);
      for (const { seq, type, data } of events) {
        if (type === DAMAGED) this.#log.error("The event log was damaged", { seq, ...data });
      }
    } while (events.length === RECENT);
  }

  /** The next part of a span that can be had with one look, and how far it goes. */
  #next(span: Span): { events: LoggedEvent[]; cursor: number } {
    const recent = this.#isRecent(span);
    const until = recent ? span.until : Math.min(span.until, span.after + WINDOW);
    const events = recent ? this.#remember(span) : this.#rows.first({ ...span, until });
    const last = events.length === span.limit ? events.at(-1)?.seq : undefined;
    return { events, cursor: Math.max(span.after, last ?? until) };
  }

  #isRecent({ after, until }: Span): boolean {
    const [first] = this.#recent;
    return first !== undefined && after >= first.seq - 1 && until === this.#newest;
  }

  #remember({ after, types, limit }: Span): LoggedEvent[] {
    let start = this.#recent.length;
    while (start > 0 && (this.#recent[start - 1]?.seq ?? 0) > after) start--;
    return this.#recent.slice(start).filter(({ type }) => matches(type, types)).slice(0, limit);
  }

  async #readOn(span: Span): Promise<{ events: LoggedEvent[]; cursor: number }> {
    const events: LoggedEvent[] = [];
    let cursor = span.after;
    for (let looks = 0; looks < MAX_WINDOWS; looks++) {
      const limit = span.limit - events.length;
      const part = this.#next({ ...span, after: cursor, limit });
      events.push(...part.events);
      cursor = part.cursor;
      if (events.length === span.limit || cursor >= span.until) break;
      await this.#yield();
    }
    return { events, cursor };
  }

  async #readBack(span: Span): Promise<LoggedEvent[]> {
    let events: LoggedEvent[] = [];
    let until = span.until;
    for (let looks = 0; looks < MAX_WINDOWS && until > span.after; looks++) {
      const after = Math.max(span.after, until - WINDOW);
      const limit = span.limit - events.length;
      events = [...this.#rows.last({ ...span, after, until, limit }), ...events];
      if (events.length === span.limit) break;
      until = after;
      if (until > span.after) await this.#yield();
    }
    return events;
  }

  /** Lets whatever else waits for the main thread run in between. */
  #yield(): Promise<void> {
    return new Promise((resolve) => this.#scheduler.after(0, resolve));
  }
}
