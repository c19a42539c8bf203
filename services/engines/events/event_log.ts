import { type AppendedEvent, DAMAGED, type Database } from "../database/mod.ts";
import { Invalid } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { type EventFollower, type EventGap, Following, type NextEvents } from "./following.ts";
import {
  EventRows,
  type LastEvent,
  type LoggedEvent,
  matches,
  readRow,
  type Span,
} from "./rows.ts";

/** Most rows that one query scans without an index. */
const WINDOW = 2000;

/** Most numbers that one query covers for the events of one project, which have an index. */
const PROJECT_WINDOW = 100_000;

/** Most events that one query returns: each takes some 25 µs, and nobody should wait over 5 ms. */
const LOOK = 100;

/** Most queries for one request; then it returns what it has, and its position. */
const MAX_WINDOWS = 1000;

/** Newest events kept in memory, for followers. */
const RECENT = 1000;

/** Default number of events in an answer. */
const DEFAULT_LIMIT = 100;

const EVERY_TYPE: readonly string[] = ["*"];

export interface EventLogOptions {
  readonly database: Database;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** A reader's query of the log. */
export interface EventQuery {
  /** The first events after this number; by default, the last ones of the log. */
  readonly after?: number | undefined;
  /** Without `after`: the last events before this number. */
  readonly before?: number | undefined;
  /** Types of events, each in full or ending in `*`, such as `agent.*`; default: all. */
  readonly types?: readonly string[] | undefined;
  /** The internal id of a project, for its events alone. */
  readonly project?: string | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
}

/** Part of the log. */
export interface EventPage {
  /** Oldest first. */
  readonly events: readonly LoggedEvent[];
  /** The number up to which the log was read; pass it as `after` next time. */
  readonly cursor: number;
  /** Whether there is more after the cursor. */
  readonly more: boolean;
  /** The number of the oldest kept event; 0 if the log is empty. */
  readonly oldest: number;
}

/**
 * Reads the event log. An event's number is the cursor: a reader that passes its last number gets
 * every later event, without gaps or repeats, however long it was away.
 */
export class EventLog {
  readonly #rows: EventRows;
  readonly #scheduler: Scheduler;
  readonly #log: Log;
  readonly #followings = new Set<Following>();
  readonly #unsubscribe: () => void;
  /** The newest event that was committed. */
  #newest: number;
  /** The newest events without a gap, up to {@link #taken}. */
  #recent: LoggedEvent[] = [];
  /** The number up to which events were read for followers. */
  #taken: number;
  #taking: Promise<void> | null = null;
  /** Events that are known without a query, in parts without gaps. */
  #told: AppendedEvent[] = [];
  #closed = false;

  private constructor(options: EventLogOptions, newest: number) {
    this.#rows = new EventRows(options.database);
    this.#scheduler = options.scheduler;
    this.#log = options.log;
    this.#newest = newest;
    this.#taken = newest;
    this.#unsubscribe = options.database.onAppended((appended, events) => {
      this.#newest = Math.max(this.#newest, appended);
      if (this.#taken >= this.#newest) return;
      if (events !== null) this.#told.push(...events);
      this.#taking ??= this.#take();
    });
  }

  /**
   * Opens the log at its end.
   *
   * @throws the database's error
   */
  static async open(options: EventLogOptions): Promise<EventLog> {
    const { newest } = await new EventRows(options.database).ends();
    return new EventLog(options, newest);
  }

  /** The number of the newest event; 0 if the log is empty. */
  get newest(): number {
    return this.#newest;
  }

  /**
   * Learns of an event that a reader has seen, perhaps on another node that knew of it earlier.
   *
   * @throws the database's error
   */
  async reach(seq: number | undefined): Promise<void> {
    if (seq === undefined || seq <= this.#newest) return;
    const { newest } = await this.#rows.ends();
    this.#newest = Math.max(this.#newest, newest);
    if (this.#taken < this.#newest) this.#taking ??= this.#take();
  }

  /**
   * Reads part of the log. If few events match, it may return fewer than the limit although there
   * are more; the cursor says how far it read.
   *
   * @throws Invalid if `after` is beyond the end of the log
   */
  async read(query: EventQuery): Promise<EventPage> {
    const { after, before, types = EVERY_TYPE, project, limit = DEFAULT_LIMIT } = query;
    const asked = { types, project, limit };
    await this.reach(after);
    await this.#taking;
    const newest = this.#newest;
    const { oldest } = await this.#rows.ends();
    if (after === undefined) {
      const until = Math.min(newest, (before ?? Infinity) - 1);
      const events = await this.#readBack({ after: oldest - 1, until, ...asked });
      return { events, cursor: newest, more: false, oldest };
    }
    this.#assertInside(after, newest);
    const from = Math.max(after, Math.min(oldest - 1, newest));
    const { events, cursor } = await this.#readOn({ after: from, until: newest, ...asked });
    return { events, cursor, more: cursor < newest, oldest };
  }

  /** The last event of each project, by the project's internal id. */
  lastOfProjects(): Promise<ReadonlyMap<string, LastEvent>> {
    return this.#rows.lastOfProjects();
  }

  /**
   * Follows the log after a number, or from now on. For a number from outside, call {@link reach}
   * first.
   *
   * @returns the function that requests events; none come before the first call
   * @throws Invalid if `after` is beyond the end of the log
   */
  follow({ after, types = EVERY_TYPE, project }: EventQuery, follower: EventFollower): Following {
    if (after !== undefined) this.#assertInside(after, this.#newest);
    const span = (cursor: number, limit: number) => (
      { after: cursor, until: this.#taken, types, project, limit }
    );
    // Memory may have events that retention has removed, so only a reader at the end starts there.
    let begun = after === undefined || after === this.#newest;
    const following = new Following({
      follower,
      after: after ?? this.#newest,
      scheduler: this.#scheduler,
      recall: (cursor, limit) => begun ? this.#recall(span(cursor, limit)) : null,
      read: (cursor, limit) => {
        begun = true;
        return this.#readKept(span(cursor, limit));
      },
      onClose: () => this.#followings.delete(following),
    });
    if (this.#closed) following.end();
    else this.#followings.add(following);
    return following;
  }

  /** Ends all followers. */
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

  /**
   * Reads appended events once for all followers, and lets them advance. The running call also
   * reads events that are appended meanwhile.
   */
  async #take(): Promise<void> {
    try {
      while (this.#taken < this.#newest && !this.#closed) await this.#takeNext();
    } catch (error) {
      if (!this.#closed) this.#log.error("The event log cannot be read", { error });
      for (const following of [...this.#followings]) following.end();
    } finally {
      this.#taking = null;
    }
  }

  async #takeNext(): Promise<void> {
    const told = this.#takeTold();
    // Followers go on after those who wait for the commit.
    const events = await (told.length > 0 ? told : this.#rows.next(this.#taken, RECENT));
    // Retention may have removed the next ones already.
    const isNext = events[0]?.seq === this.#taken + 1;
    this.#recent = (isNext ? [...this.#recent, ...events] : [...events]).slice(-RECENT);
    this.#taken = events.at(-1)?.seq ?? this.#newest;
    this.#newest = Math.max(this.#newest, this.#taken);
    for (const { seq, type, data } of events) {
      if (type === DAMAGED) this.#log.error("The event log was damaged", { seq, ...data });
    }
    for (const following of [...this.#followings]) following.advance();
  }

  /** The next events that are known without a query. */
  #takeTold(): LoggedEvent[] {
    let last = this.#taken;
    const next = this.#told.filter(({ seq }) => {
      const isNext = seq === last + 1;
      if (isNext) last = seq;
      return isNext;
    });
    this.#told = [];
    return next.map(readRow);
  }

  /** The next part of a span from memory; null if memory does not go back that far. */
  #recall({ after, until, limit, ...asked }: Span): NextEvents | null {
    if (after >= until) return { events: [], cursor: after };
    const [first] = this.#recent;
    if (first === undefined || after < first.seq - 1 || until !== this.#taken) return null;
    let start = this.#recent.length;
    while (start > 0 && (this.#recent[start - 1]?.seq ?? 0) > after) start--;
    const events = this.#recent.slice(start).filter((event) => matches(event, asked));
    return nextOf(events.slice(0, limit), limit, until);
  }

  /** The next part of a span from one query. */
  async #look(span: Span, indexed: readonly string[] | null): Promise<NextEvents> {
    const end = indexed === null ? span.after + windowOf(span) : span.until;
    const until = Math.max(span.after, Math.min(span.until, end));
    const limit = Math.min(span.limit, LOOK);
    return nextOf(await this.#rows.first({ ...span, until, limit }, indexed), limit, until);
  }

  /**
   * Continues from where retention has removed events. It may remove some between two queries, so
   * the oldest one counts that is there after the reading.
   */
  async #readKept(span: Span): Promise<NextEvents> {
    const indexed = await this.#rows.typesOf(span);
    for (let { after } = span;;) {
      const next = await this.#look({ ...span, after }, indexed);
      const { oldest } = await this.#rows.ends();
      const kept = Math.min(oldest - 1, span.until);
      if (kept <= after) return { ...next, gap: gapAfter(span.after, after + 1) };
      after = kept;
    }
  }

  async #readOn(span: Span): Promise<NextEvents> {
    const events: LoggedEvent[] = [];
    let cursor = span.after;
    let indexed: readonly string[] | null | undefined;
    for (let looks = 0; looks < MAX_WINDOWS; looks++) {
      const limit = span.limit - events.length;
      const rest = { ...span, after: cursor, limit };
      let part = this.#recall(rest);
      if (part === null) {
        if (indexed === undefined) indexed = await this.#rows.typesOf(span);
        part = await this.#look(rest, indexed);
      }
      events.push(...part.events);
      cursor = part.cursor;
      if (events.length === span.limit || cursor >= span.until) break;
      await this.#yield();
    }
    return { events, cursor };
  }

  async #readBack(span: Span): Promise<LoggedEvent[]> {
    const indexed = await this.#rows.typesOf(span);
    let events: LoggedEvent[] = [];
    let until = span.until;
    for (let looks = 0; looks < MAX_WINDOWS && until > span.after; looks++) {
      const after = indexed === null ? Math.max(span.after, until - windowOf(span)) : span.after;
      const limit = Math.min(span.limit - events.length, LOOK);
      const part = await this.#rows.last({ ...span, after, until, limit }, indexed);
      events = [...part, ...events];
      if (events.length === span.limit) break;
      until = part.length === limit ? (part[0]?.seq ?? 0) - 1 : after;
      if (until > span.after) await this.#yield();
    }
    return events;
  }

  /** Lets other tasks of the main thread run in between. */
  #yield(): Promise<void> {
    return new Promise((resolve) => this.#scheduler.after(0, resolve));
  }
}

/**
 * What a reader misses who continues after a number; null if nothing.
 *
 * @param oldest the number of the oldest kept event
 */
export function gapAfter(after: number, oldest: number): EventGap | null {
  return after < oldest - 1 ? { from: String(after), to: String(oldest) } : null;
}

function windowOf({ project }: Span): number {
  return project === undefined ? WINDOW : PROJECT_WINDOW;
}

/** A full page reaches up to its last event, any other one up to `until`. */
function nextOf(events: readonly LoggedEvent[], limit: number, until: number): NextEvents {
  const last = events.length === limit ? events.at(-1)?.seq : undefined;
  return { events, cursor: last ?? until };
}
