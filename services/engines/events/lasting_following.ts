import { type Change, type Database, type Statement, statement } from "../database/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { EventLog } from "./event_log.ts";
import type { Following } from "./following.ts";
import type { LoggedEvent } from "./rows.ts";

/** Pause before the same events are handled again after a failure, in milliseconds. */
const RETRY_MS = 5000;

/** The cursor is stored after at most this many events without a change. */
const MAX_UNSTORED = 1000;

/** What handling events writes, and what it began. */
export interface Handled extends Change {
  /**
   * Numbers of events of which a part is done later, such as a line that waits for its turn. The
   * stored cursor stays before them until that is done. After a restart, it gets those again whose
   * promise rejected.
   */
  readonly begun?: readonly { readonly seq: number; readonly done: Promise<void> }[];
  /**
   * Called once the change is committed with the cursor, for what must not be done twice. A kill
   * between the two leaves it undone. It must not throw. Not called beside `begun`.
   */
  readonly committed?: () => void;
}

export interface LastingFollowingOptions {
  /**
   * The name of its cursor in the database. That of a node ends in `@` and the node; the same name
   * without them goes on where those of all nodes ended.
   */
  readonly name: string;
  /** Types of events, each in full or ending in `*`. */
  readonly types: readonly string[];
  /**
   * Handles events, in their order. Its change is committed together with
   * the cursor; null if it did nothing. It gets the same events again if it throws. After a crash,
   * it gets those again for which the cursor was not stored yet: what is no part of its change must
   * not be done twice, or only between the deed and the commit that follows it.
   */
  readonly take: (events: readonly LoggedEvent[]) => Promise<Handled | null>;
  readonly database: Pick<Database, "tables" | "commit">;
  readonly eventLog: Pick<EventLog, "follow" | "newest" | "read">;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Follows the event log across restarts, with a cursor in the database. It begins with the events
 * after its first start.
 */
export class LastingFollowing {
  readonly #options: LastingFollowingOptions;
  #following: Following | null = null;
  #batch: LoggedEvent[] = [];
  #cursor = 0;
  #stored = 0;
  /** Numbers of events of which a part is not done yet, in their order. */
  readonly #begun = new Set<number>();
  #storing: Promise<void> | null = null;
  #taking: Promise<void> | null = null;
  #cancelRetry: () => void = () => {};
  #isClosed = false;

  constructor(options: LastingFollowingOptions) {
    this.#options = options;
  }

  /** Continues where the previous process ended. */
  async start(): Promise<void> {
    const { database, eventLog: { newest }, name } = this.#options;
    const { tables } = database;
    const rows = await tables.selectFrom("event_cursors").selectAll()
      .where((is) => is.or([is("name", "=", name), is("name", "like", `${name}@%`)])).execute();
    const reached = rows.length === 0 ? newest : Math.max(...rows.map(({ seq }) => seq));
    this.#cursor = this.#stored = Math.min(reached, newest);
    if (rows.length !== 1 || rows[0]?.name !== name) {
      const removal = tables.deleteFrom("event_cursors").where("name", "like", `${name}@%`);
      await database.commit({ statements: [statement(removal), this.#storingOf(this.#cursor)] });
    }
    this.#follow();
  }

  /** Stops after the events under way, and stores the cursor. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#following?.close();
    this.#cancelRetry();
    await this.#taking;
    await this.#storing;
    await this.#store();
  }

  /** Resolves when all events so far are handled; for tests. */
  async idle(): Promise<void> {
    const { eventLog } = this.#options;
    await eventLog.read({ after: eventLog.newest, limit: 1 });
    await this.#following?.idle();
    while (this.#taking !== null) {
      await this.#taking;
      await this.#following?.idle();
    }
    await this.#storing;
  }

  #follow(): void {
    const { eventLog, types, scheduler } = this.#options;
    this.#batch = [];
    this.#following = eventLog.follow({ after: this.#cursor, types }, {
      message: (event) => {
        this.#batch.push(event);
        if (this.#taking === null) this.#begin();
      },
      end: () => {
        if (this.#isClosed) return;
        this.#cancelRetry();
        this.#cancelRetry = scheduler.after(RETRY_MS, () => this.#follow());
      },
    });
    this.#following.more();
  }

  #begin(): void {
    // The other events of the same delivery arrive within this task.
    this.#taking = Promise.resolve().then(() => this.#takeAll());
  }

  async #takeAll(): Promise<void> {
    try {
      while (this.#batch.length > 0 && await this.#take()) {
        if (!this.#isClosed) this.#following?.more();
      }
    } finally {
      // In the same step as the last look at the batch: the next event begins anew.
      this.#taking = null;
    }
  }

  /** @returns whether the events were handled */
  async #take(): Promise<boolean> {
    const { database, log, name, scheduler, take } = this.#options;
    const last = this.#batch.at(-1)?.seq ?? this.#cursor;
    let handled: Handled | null;
    try {
      handled = await take(this.#batch);
      for (const { seq, done } of handled?.begun ?? []) this.#passAfter(seq, done);
      const reached = this.#reachedOf(last);
      const isAlone = handled !== null && handled.begun === undefined;
      if (isAlone || last - this.#stored >= MAX_UNSTORED) {
        const statements = [...handled?.statements ?? [], this.#storingOf(reached)];
        await database.commit({ statements, events: handled?.events ?? [] });
        this.#stored = Math.max(this.#stored, reached);
      }
    } catch (error) {
      if (this.#isClosed) return false;
      log.warn("Events could not be handled and are tried again", { name, error });
      this.#cancelRetry = scheduler.after(RETRY_MS, () => this.#begin());
      return false;
    }
    this.#cursor = last;
    this.#batch = [];
    handled?.committed?.();
    // It may have been done before the cursor came here.
    if (handled?.begun !== undefined) this.#storeSoon();
    return true;
  }

  /** Lets the stored cursor pass an event once its last part is done. */
  #passAfter(seq: number, done: Promise<void>): void {
    this.#begun.add(seq);
    done.then(() => {
      this.#begun.delete(seq);
      this.#storeSoon();
    }, () => {});
  }

  #storeSoon(): void {
    if (this.#isClosed) return;
    this.#storing ??= this.#store().finally(() => this.#storing = null);
  }

  /** How far everything is done, if events up to a number are handled. */
  #reachedOf(handled: number): number {
    const [first = Infinity] = this.#begun;
    return Math.min(handled, first - 1);
  }

  async #store(): Promise<void> {
    const { database, log, name } = this.#options;
    try {
      for (;;) {
        const reached = this.#reachedOf(this.#cursor);
        if (reached <= this.#stored) return;
        await database.commit({ statements: [this.#storingOf(reached)] });
        this.#stored = Math.max(this.#stored, reached);
      }
    } catch (error) {
      log.warn("The place in the event log is not stored", { name, error });
    }
  }

  #storingOf(seq: number): Statement {
    const insertion = this.#options.database.tables.insertInto("event_cursors")
      .values({ name: this.#options.name, seq })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ seq }));
    return statement(insertion);
  }
}
