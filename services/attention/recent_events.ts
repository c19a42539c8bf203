import type { EventLog, Following, LoggedEvent } from "../events/mod.ts";
import { BoundedMap } from "../kernel/bounded_map.ts";

/** Newest events in memory. */
const RECENT = 1000;

/** Events that one query reads. */
const PAGE = 100;

/** Most actors whose last event is remembered. */
const MAX_ACTORS = 10_000;

/** Types that say little to a person who wants to know what happened. */
const NOISE: ReadonlySet<string> = new Set([
  "account.logged_in",
  "account.logged_out",
  "admin.logged_in",
  "admin.logged_out",
  "llm.called",
  "network.account_repaired",
  "project.tag",
]);

/** The message of the check-in with which a workspace begins; the workspace has an event of its own. */
const BEGINS_WORKSPACE = /^Create new branch named "workspace\//;

function isNoise({ type, data }: LoggedEvent): boolean {
  return NOISE.has(type) ||
    (type === "project.checkin" && BEGINS_WORKSPACE.test(String(data["comment"])));
}

/** What a person wants to know who comes back; a type may end in `*`. The event log has the rest. */
const FOR_PEOPLE: readonly string[] = [
  "agent.*",
  "agents.*",
  "account.created",
  "admin.created",
  "bot.alarm",
  "bot.failed",
  "bot.goal_*",
  "bot.incident",
  "bot.task_assigned",
  "irc.banned",
  "irc.channel_registered",
  "irc.killed",
  "irc.muted",
  "irc.removed",
  "project.*",
  "question.asked",
  "question.answered",
];

/** What concerns those who set up a project. */
const OF_SETUP: ReadonlySet<string> = new Set([
  "agent.rate_changed",
  "agent.rotated",
  "project.changed",
  "project.mirror_changed",
  "project.protection_changed",
  "project.webhook_changed",
]);

/** Whether an event belongs on the first page of a person. */
export function isForPeople({ type, data }: Pick<LoggedEvent, "type" | "data">): boolean {
  if (OF_SETUP.has(type)) return false;
  if (type === "project.status") return data["state"] === "failure" || data["state"] === "error";
  return FOR_PEOPLE.some((one) =>
    one.endsWith("*") ? type.startsWith(one.slice(0, -1)) : type === one
  );
}

/**
 * The newest events, in memory, and the last one of each actor. It begins to follow the log when
 * somebody asks for the first time.
 */
export class RecentEvents {
  readonly #eventLog: EventLog;
  readonly #onEvent: (event: LoggedEvent) => void;
  readonly #onGap: () => void;
  #events: LoggedEvent[] = [];
  readonly #lastByActor = new BoundedMap<string, LoggedEvent>(MAX_ACTORS);
  #opening: Promise<void> | null = null;
  #following: Following | null = null;
  #isClosed = false;

  /**
   * @param observer hears of each new event, and of a gap, after which events may be missing
   */
  constructor(
    eventLog: EventLog,
    observer: { readonly event: (event: LoggedEvent) => void; readonly gap: () => void },
  ) {
    this.#eventLog = eventLog;
    this.#onEvent = observer.event;
    this.#onGap = observer.gap;
  }

  /** Makes sure that the newest events are in memory. */
  async ready(): Promise<void> {
    if (this.#isClosed) return;
    await (this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    }));
  }

  /** The newest events that pass a test, newest first. */
  newest(limit: number, passes: (event: LoggedEvent) => boolean): readonly LoggedEvent[] {
    const found: LoggedEvent[] = [];
    for (let index = this.#events.length - 1; index >= 0 && found.length < limit; index--) {
      const event = this.#events[index];
      if (event !== undefined && passes(event)) found.push(event);
    }
    return found;
  }

  /** The last event that an account caused, or null. */
  lastOf(accountId: string): LoggedEvent | null {
    return this.#lastByActor.peek(accountId) ?? null;
  }

  close(): void {
    this.#isClosed = true;
    this.#following?.close();
  }

  async #open(): Promise<void> {
    const { events, cursor } = await this.#readNewest();
    this.#events = [];
    this.#onGap();
    for (const event of events) this.#hold(event);
    if (this.#isClosed) return;
    const following = this.#eventLog.follow({ after: cursor }, {
      message: (event) => {
        following.more();
        this.#hold(event);
        this.#onEvent(event);
      },
      end: () => {
        this.#opening = null;
      },
    });
    this.#following = following;
    following.more();
  }

  /** The newest events, oldest first, and the number up to which they go. */
  async #readNewest(): Promise<{ events: readonly LoggedEvent[]; cursor: number }> {
    const { events: newest, cursor } = await this.#eventLog.read({ limit: PAGE });
    let [events, page] = [newest, newest];
    while (page.length === PAGE && events.length < RECENT) {
      const before = events[0]?.seq ?? 0;
      ({ events: page } = await this.#eventLog.read({ before, limit: PAGE }));
      events = [...page, ...events];
    }
    return { events, cursor };
  }

  #hold(event: LoggedEvent): void {
    if (isNoise(event)) return;
    this.#events.push(event);
    // Half as many again: the list is moved for every 500th event alone.
    if (this.#events.length > RECENT * 1.5) this.#events = this.#events.slice(-RECENT);
    if (event.actor_id !== null) this.#lastByActor.set(event.actor_id, event);
  }
}
