import {
  type Database,
  type NewEvent,
  type Statement,
  statement,
} from "../../engines/database/mod.ts";
import {
  type EventLog,
  type Following,
  type LoggedEvent,
  SYSTEM,
} from "../../engines/events/mod.ts";
import { type Notice, noticeOf } from "../feeds/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { type DeliveryRow, signingVersions, type Webhook } from "./records.ts";
import type { PostOutcome, SignedPosts } from "./signed_posts.ts";
import type { Webhooks } from "./webhooks.ts";

/** Requests at the same time: in all, and of one webhook. */
const MAX_AT_ONCE = 32;
const MAX_OF_ONE = 4;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Pauses after failed attempts, in milliseconds: about three days in all. */
const BACKOFF = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR]
  .concat([20 * HOUR, 24 * HOUR]);

/** A webhook is disabled after failing for this long. */
const MAX_FAILING = 5 * 24 * HOUR;

/** How long a delivery waits before its next turn while the agent behind it is halted. */
const HELD_MS = 15 * SECOND;

const RETRY_MS = 5 * SECOND;
const TRIM_MS = 10 * MINUTE;

/** Status of a receiver that wants no more deliveries (Standard Webhooks). */
const GONE = 410;

/** What is tried again after a pause: to read and store events, or to send deliveries. */
type Retried = "events" | "deliveries";

/** Events that no webhook gets: a failing webhook would cause more of them. */
const UNSENT: ReadonlySet<string> = new Set(["webhook_changed"]);

export interface SenderOptions {
  readonly database: Database;
  readonly webhooks: Webhooks;
  readonly eventLog: EventLog;
  readonly posts: SignedPosts;
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** Statements without which no transaction of the sender counts. */
  readonly guard: () => readonly Statement[];
  /** Whether this node leads: one that was stopped for a while may only be about to notice. */
  readonly isLeading: () => boolean;
  /** The longest pause before it looks for deliveries that others have asked for, in milliseconds. */
  readonly longestPause: number;
  /** Which agents are halted: what they caused is sent when they go on. */
  readonly halts: {
    readonly isAny: boolean;
    reasonById(id: string | null): string | null;
  };
}

/**
 * Sends events to webhooks. Each event becomes one delivery per webhook that wants it, written in
 * one transaction with the cursor in the log, so a restart neither loses nor duplicates one.
 * Deliveries are sent from the database; failed ones are sent again, after longer and longer
 * pauses.
 */
export class WebhookSender {
  readonly #options: SenderOptions;
  /** Aborted while it is stopped. */
  #aborted = new AbortController();
  #following: Following | null = null;
  /** Events that are not written as deliveries yet. */
  #batch: LoggedEvent[] = [];
  #taking: Promise<void> = Promise.resolve();
  #trimming: Promise<void> = Promise.resolve();
  readonly #sending = new Map<
    string,
    { readonly webhookId: string; readonly done: Promise<void> }
  >();
  #filling: Promise<void> | null = null;
  #isAsked = false;
  #cancelTimer: () => void = () => {};
  #cancelTrim: () => void = () => {};
  /** Ends the waits for another attempt. */
  readonly #cancelRetries = new Map<Retried, () => void>();

  constructor(options: SenderOptions) {
    const { webhooks } = options;
    this.#options = options;
    this.#aborted.abort();
    webhooks.onActive(() => this.#wake());
    webhooks.deliveries.onDue(() => this.#wake());
  }

  /** Continues where the previous process, or another node, ended. */
  async start(): Promise<void> {
    const { database, webhooks, eventLog } = this.#options;
    // The cursors in memory are from before the last run.
    if (this.#following !== null) await database.keepCurrent(webhooks);
    this.#aborted = new AbortController();
    this.#batch = [];
    const cursors = webhooks.all().map(({ cursor }) => cursor);
    this.#follow(Math.min(eventLog.newest, ...cursors));
    this.#trimLater();
    this.#wake();
  }

  /** Aborts running deliveries; the next start sends them again. */
  async stop(): Promise<void> {
    this.#aborted.abort();
    this.#following?.close();
    this.#cancelTimer();
    this.#cancelTrim();
    for (const cancel of this.#cancelRetries.values()) cancel();
    await this.#taking;
    await this.#filling;
    await this.#trimming;
    await Promise.all(Array.from(this.#sending.values(), ({ done }) => done));
  }

  /** Resolves when no delivery is being sent; for tests. */
  async idle(): Promise<void> {
    for (;;) {
      await this.#taking;
      await this.#filling;
      if (this.#sending.size === 0 && this.#filling === null) return;
      await Promise.all(Array.from(this.#sending.values(), ({ done }) => done));
    }
  }

  #follow(after: number): void {
    this.#following = this.#options.eventLog.follow({ after, types: ["project.*"] }, {
      message: (event) => {
        this.#batch.push(event);
        if (this.#batch.length === 1) queueMicrotask(() => this.#taking = this.#take(after));
        after = event.seq;
      },
      end: () => this.#retry("events", () => this.#follow(after)),
    });
    this.#following.more();
  }

  #retry(what: Retried, work: () => void): void {
    if (this.#aborted.signal.aborted) return;
    this.#cancelRetries.get(what)?.();
    this.#cancelRetries.set(what, this.#options.scheduler.after(RETRY_MS, work));
  }

  /** Writes the deliveries of a batch of events, and asks for more. */
  async #take(after: number): Promise<void> {
    const batch = this.#batch;
    const last = batch.at(-1)?.seq ?? after;
    const { database, webhooks, log, guard } = this.#options;
    const rows = batch.flatMap((event) => this.#deliveriesOf(event));
    const cursors = database.tables.updateTable("webhooks").set({ cursor: last })
      .where("cursor", "<", last);
    try {
      if (rows.length > 0) {
        await database.commit({
          statements: [...guard(), webhooks.deliveries.insertion(rows), statement(cursors)],
        });
      }
    } catch (error) {
      log.warn("Deliveries of webhooks cannot be written", { error });
      return this.#retry("events", () => this.#taking = this.#take(after));
    }
    this.#batch = [];
    if (rows.length > 0) this.#wake();
    this.#following?.more();
  }

  #deliveriesOf(event: LoggedEvent): DeliveryRow[] {
    const notice = noticeOf(event);
    if (notice === null || UNSENT.has(notice.name)) return [];
    const { seq, name: type, time, data } = notice;
    const { webhooks } = this.#options;
    return webhooks.all().filter((webhook) => wants(webhook, notice)).map((webhook) =>
      webhooks.deliveries.row(webhook, { type, seq, time: Date.parse(time), data })
    );
  }

  /** Begins to send due deliveries, within the limits. */
  #wake(): void {
    this.#isAsked = true;
    if (this.#filling !== null || this.#aborted.signal.aborted) return;
    this.#filling = this.#fill().catch((error) => {
      this.#options.log.warn("Deliveries of webhooks cannot be read", { error });
      this.#retry("deliveries", () => this.#wake());
    }).finally(() => {
      this.#filling = null;
      if (this.#isAsked) this.#wake();
    });
  }

  async #fill(): Promise<void> {
    const { webhooks: { deliveries }, scheduler, longestPause, isLeading } = this.#options;
    this.#isAsked = false;
    this.#cancelTimer();
    for (;;) {
      const limit = MAX_AT_ONCE - this.#sending.size;
      if (limit <= 0 || this.#aborted.signal.aborted) return;
      const rows = await deliveries.due({
        besides: [...this.#sending.keys()],
        webhooks: this.#able(),
        limit,
      });
      if (rows.length === 0 || !isLeading()) break;
      for (const row of rows) {
        if (this.#countOf(row.webhook_id) < MAX_OF_ONE) this.#begin(row);
      }
    }
    const next = await deliveries.nextDue([...this.#sending.keys()], this.#able());
    if (this.#aborted.signal.aborted) return;
    const isDue = next !== null && isLeading();
    const due = isDue ? Math.min(Math.max(0, next - scheduler.now()), HOUR) : Infinity;
    const wait = Math.min(due, longestPause);
    if (wait < Infinity) this.#cancelTimer = scheduler.after(wait, () => this.#wake());
  }

  /** Ids of webhooks that are active and not busy. */
  #able(): string[] {
    return this.#options.webhooks.all()
      .filter(({ id, isActive }) => isActive && this.#countOf(id) < MAX_OF_ONE)
      .map(({ id }) => id);
  }

  #countOf(webhookId: string): number {
    let count = 0;
    for (const sending of this.#sending.values()) if (sending.webhookId === webhookId) count++;
    return count;
  }

  #begin(row: DeliveryRow): void {
    const done = this.#send(row).catch((error) => {
      this.#options.log.warn("A delivery of a webhook cannot be written", { error });
      // The delivery is still due: try again after a pause.
      this.#retry("deliveries", () => this.#wake());
      return false;
    }).then((goesOn) => {
      this.#sending.delete(row.id);
      if (goesOn) this.#wake();
    });
    this.#sending.set(row.id, { webhookId: row.webhook_id, done });
  }

  /** @returns whether the next one may follow at once */
  async #send(row: DeliveryRow): Promise<boolean> {
    const { webhooks, scheduler, database, guard } = this.#options;
    const webhook = webhooks.get(row.webhook_id);
    if (webhook === null) return true;
    if (await this.#isHeld(row)) {
      const next_attempt_at = scheduler.now() + HELD_MS;
      await database.commit({
        statements: [webhooks.deliveries.update(row.id, { next_attempt_at })],
      });
      return true;
    }
    const started = scheduler.now();
    const { status, error, retryAfter } = await this.#post(webhook, row, started);
    if (this.#aborted.signal.aborted) return false;
    const now = scheduler.now();
    const isDelivered = status !== null && status >= 200 && status < 300;
    const delay = BACKOFF[row.attempts];
    const isOver = isDelivered || delay === undefined || status === GONE;
    const wait = Math.max(delay ?? 0, (retryAfter ?? 0) * SECOND);
    const update = webhooks.deliveries.update(row.id, {
      status: isDelivered ? "delivered" : isOver ? "failed" : "pending",
      attempts: row.attempts + 1,
      next_attempt_at: isOver ? null : now + Math.min(wait, 24 * HOUR),
      response_status: status,
      error,
      milliseconds: now - started,
      finished_at: isOver ? now : null,
    });
    const since = isDelivered ? null : webhook.failingSince ?? now;
    const change: { statements: Statement[]; events: NewEvent[] } = {
      // Another node may have sent it meanwhile.
      statements: [...guard(), update, ...webhooks.failing(webhook, since)],
      events: [],
    };
    const current = webhooks.get(webhook.id);
    const isLong = since !== null && now - since >= MAX_FAILING;
    if (current?.isActive && (isLong || status === GONE)) {
      const { statements, events } = webhooks.disabling(webhook, SYSTEM);
      change.statements.push(...statements);
      change.events.push(...events);
    }
    await database.commit(change);
    return true;
  }

  /** Whether a halted agent caused what the delivery reports. */
  async #isHeld({ event_seq: seq }: DeliveryRow): Promise<boolean> {
    const { halts, eventLog } = this.#options;
    if (!halts.isAny || seq === null) return false;
    const { events: [event] } = await eventLog.read({ after: seq - 1, limit: 1 });
    return event?.seq === seq && halts.reasonById(event.actor_id) !== null;
  }

  async #post(webhook: Webhook, { id, body }: DeliveryRow, now: number): Promise<PostOutcome> {
    const { webhooks, posts } = this.#options;
    const secrets = await webhooks.secrets(webhook, signingVersions(webhook, now));
    const post = { url: webhook.url, id: `msg_${id}`, body, secrets };
    return await posts.send(post, { now, stopped: this.#aborted.signal });
  }

  /** Removes old deliveries now and then, until it is stopped. */
  #trimLater(): void {
    if (this.#aborted.signal.aborted) return;
    const { scheduler, log } = this.#options;
    this.#cancelTrim = scheduler.after(TRIM_MS, () => {
      this.#trimming = this.#trim().catch((error) =>
        log.warn("Old deliveries cannot be removed", { error })
      ).finally(() => this.#trimLater());
    });
  }

  async #trim(): Promise<void> {
    const { webhooks } = this.#options;
    for (const webhook of webhooks.all()) {
      if (this.#aborted.signal.aborted) return;
      await webhooks.deliveries.trim(webhook);
    }
  }
}

function wants(
  { projectId, types, isActive, cursor }: Webhook,
  notice: Notice,
): boolean {
  return isActive && notice.seq > cursor &&
    (projectId === null || projectId === notice.projectId) &&
    (types.length === 0 || types.includes(notice.name));
}
