import type { EventLog, Following, LoggedEvent } from "../../engines/events/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import type { Project, ReadsAnywhere } from "../../work/projects/mod.ts";

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
  "agent.session_began",
  "agent.session_ended",
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

/** Most titles in memory. */
const MAX_TITLES = 10_000;

/** A ticket of a project. */
interface TicketKey {
  readonly project: Project;
  /** Its whole id. */
  readonly ticket: string;
}

/** Tickets of one project. */
interface Group {
  readonly project: Project;
  readonly ids: string[];
}

/** The titles of tickets, in memory: each is read once, and events renew it. */
export class TicketTitles {
  readonly #reads: Pick<ReadsAnywhere, "read">;
  readonly #titles = new BoundedMap<string, string>(MAX_TITLES);

  constructor(reads: Pick<ReadsAnywhere, "read">) {
    this.#reads = reads;
  }

  /**
   * The titles of tickets, in the same order; the id of a ticket that cannot be read. Costs one
   * read of each project with tickets that are not in memory.
   */
  async of(tickets: readonly TicketKey[]): Promise<readonly string[]> {
    const missing = new Map<string, Group>();
    for (const { project, ticket } of tickets) {
      if (this.#titles.peek(keyOf(project.id, ticket)) !== undefined) continue;
      const group = missing.get(project.id) ?? { project, ids: [] };
      group.ids.push(ticket);
      missing.set(project.id, group);
    }
    await Promise.all([...missing.values()].map((group) => this.#read(group)));
    return tickets.map(({ project, ticket }) =>
      this.#titles.get(keyOf(project.id, ticket)) ?? ticket.slice(0, 10)
    );
  }

  /** Renews the title of a ticket that changed. */
  take({ type, data }: LoggedEvent): void {
    if (type !== "project.ticket") return;
    const key = keyOf(String(data["project_id"]), String(data["ticket"]));
    if (this.#titles.peek(key) !== undefined) this.#titles.set(key, String(data["title"]));
  }

  /** Forgets everything, because events may be missing. */
  clear(): void {
    this.#titles.clear();
  }

  async #read({ project, ids }: Group): Promise<void> {
    try {
      const { tickets } = await this.#reads.read(
        project,
        (repository) => repository.tickets({ only: ids, limit: ids.length, offset: 0 }),
      );
      for (const { uuid, title } of tickets) this.#titles.set(keyOf(project.id, uuid), title);
    } catch {
      // The home page shows the id of a ticket whose repository cannot be read now.
    }
  }
}

function keyOf(projectId: string, ticket: string): string {
  return `${projectId} ${ticket}`;
}

/** Projects in memory. */
const MAX_PROJECTS = 1000;

/** Events after which the tips of a project's branches may be others. */
const MOVES = /^project\.(?:checkin|tag|imported|workspace|removed)$/;

/** The newest check-in of each open branch, in memory: each project is read once after a change. */
export class BranchTips {
  readonly #reads: Pick<ReadsAnywhere, "read">;
  readonly #tips = new BoundedMap<string, Promise<ReadonlySet<string>>>(MAX_PROJECTS);

  constructor(reads: Pick<ReadsAnywhere, "read">) {
    this.#reads = reads;
  }

  /** The ids of a project's tips; null if its repository cannot be read now. */
  async of(project: Project): Promise<ReadonlySet<string> | null> {
    const { id } = project;
    const known = this.#tips.get(id);
    if (known !== undefined) return await known;
    const read = this.#read(project);
    this.#tips.set(id, read);
    try {
      return await read;
    } catch {
      if (this.#tips.peek(id) === read) this.#tips.delete(id);
      return null;
    }
  }

  /** Forgets the tips of a project whose branches moved. */
  take({ type, data }: LoggedEvent): void {
    if (MOVES.test(type)) this.#tips.delete(String(data["project_id"]));
  }

  /** Forgets everything, because events may be missing. */
  clear(): void {
    this.#tips.clear();
  }

  async #read(project: Project): Promise<ReadonlySet<string>> {
    const branches = await this.#reads.read(project, (repository) => repository.branches());
    const open = branches.filter(({ status }) => status === "open");
    return new Set(open.map(({ last_uuid }) => last_uuid));
  }
}
