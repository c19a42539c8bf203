import type { Roster } from "../../people/agents/mod.ts";
import type { Database } from "../../engines/database/mod.ts";
import { Unavailable } from "../../kernel/errors.ts";
import { type EventLog, LastingFollowing, type LoggedEvent } from "../../engines/events/mod.ts";
import type { InboxDoor, Notification } from "../../chat/inboxes/mod.ts";
import type { Log } from "../../kernel/log.ts";
import { mayRead, type ProjectRepositories, type Projects } from "../../work/projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { type AddressedConcern, Concerns, type ConcernsOptions } from "./concerns.ts";
import type { AnnouncedLine, Announcer } from "./announcer.ts";
import { type ProjectEvent, projectEventOf } from "./events.ts";
import { failureKind, lineOf } from "./lines.ts";
import type { ProjectChannels } from "./project_channels.ts";

/** Events in one reading of the log. */
const PAGE = 100;

/** Lines of one place and kind that a start asks for. More never wait: see `Announcer`. */
const MAX_ASKED = 1000;

/** A line and the channel where it is said. */
interface PlacedLine {
  readonly place: string;
  readonly line: AnnouncedLine & { readonly id: string };
}

/** What lines share of which one may stand for others. */
function keyOf({ place, line: { kind } }: PlacedLine): string {
  return `${place} ${kind}`;
}

/** People on IRC. */
export interface People {
  /** The nicks of an account that is logged in. */
  nicksOf(account: string): readonly string[];
}

export interface NotifierOptions extends ConcernsOptions {
  readonly projects: Pick<Projects, "get">;
  readonly roster: Pick<Roster, "receivers">;
  readonly inboxes: Pick<InboxDoor, "notify">;
  readonly repositories: ConcernsOptions["repositories"] & Pick<ProjectRepositories, "homes">;
  readonly channels: ProjectChannels;
  readonly announcer: Announcer;
  /**
   * Whether a message with this id was said in a channel, also before a kill. Rejects with
   * Unavailable if that cannot be known at the moment.
   */
  readonly hasSaid: (channel: string, id: string) => Promise<boolean>;
  /** Sends private messages to people; null if muster cannot know the users of nicks. */
  readonly people: People | null;
  readonly database: Database;
  readonly eventLog: EventLog;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Follows the event log, once for all projects of this node, and notifies agents in their inboxes, people on
 * IRC, and everybody in the project's channel. A cursor in the database records the handled events,
 * and an entry has the id of its event, so a kill neither loses nor duplicates an entry. Another
 * cursor is stored after each line in a channel: a line that waits for its turn is sent after a
 * restart. Between a line and the commit, a kill leaves the line alone; so its id follows from its
 * event, and a start asks the history for it. In a channel of an external network, such a line is said
 * once more. A line to a person alone is for those who are connected, whose connections end with the
 * program: it is sent after the commit, so never twice.
 */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #concerns: Concerns;
  readonly #following: LastingFollowing;
  readonly #announcing: LastingFollowing;
  /** The number of the last event announced in a channel. */
  #announced = 0;
  /** The number of the last event before the start. */
  #before = 0;
  /** The last event before the start that was announced, by the place and kind of its line. */
  #said: ReadonlyMap<string, number> | null = null;

  constructor(options: NotifierOptions) {
    this.#options = options;
    this.#concerns = new Concerns(options);
    this.#following = new LastingFollowing({
      ...options,
      name: options.repositories.homes.nameOf("notifications"),
      types: ["project.*"],
      take: (events) => this.#take(events),
    });
    this.#announcing = new LastingFollowing({
      ...options,
      name: options.repositories.homes.nameOf("announcements"),
      types: ["project.*"],
      take: (events) => this.#announceAll(events),
    });
  }

  /** Continues where the previous process ended. */
  async start(): Promise<void> {
    this.#before = this.#options.eventLog.newest;
    await this.#following.start();
    await this.#announcing.start();
  }

  /** Sends no more lines; those that wait for their turn follow after the next start. */
  async close(): Promise<void> {
    const closed = [this.#following.close(), this.#announcing.close()];
    await this.#options.announcer.close();
    await Promise.all(closed);
  }

  /** Resolves when agents are notified of all events so far; for tests. */
  idle(): Promise<void> {
    return this.#following.idle();
  }

  async #take(events: readonly LoggedEvent[]) {
    const entries: Notification[] = [];
    const lines: (() => void)[] = [];
    for (const one of events) {
      const event = this.#eventHere(one);
      if (event !== null) entries.push(...await this.#entriesOf(event, lines));
    }
    await this.#options.inboxes.notify(entries);
    if (entries.length === 0 && lines.length === 0) return null;
    const committed = () => {
      for (const send of lines) send();
    };
    return { committed };
  }

  /** Announces events in the channels of their projects. */
  async #announceAll(events: readonly LoggedEvent[]) {
    const [first] = events;
    if (first !== undefined && first.seq <= this.#before) {
      this.#said ??= await this.#saidFrom(first);
    }
    const begun = events.flatMap((one) => {
      const event = this.#eventHere(one);
      const done = event === null ? null : this.#announce(event);
      return done === null ? [] : [{ seq: one.seq, done }];
    });
    return begun.length > 0 ? { begun } : null;
  }

  /** An event of a project on this node, or null. */
  #eventHere(one: LoggedEvent): ProjectEvent | null {
    const event = projectEventOf(one);
    const { homes } = this.#options.repositories;
    return event !== null && homes.isHere({ id: event.data.project_id }) ? event : null;
  }

  /**
   * Announces an event in the channel of its project.
   *
   * @returns a promise for the sent line; null if there is no line for it
   */
  #announce(event: ProjectEvent): Promise<void> | null {
    // A batch that is handled again is not announced again.
    if (event.seq <= this.#announced) return null;
    this.#announced = event.seq;
    const found = this.#lineOf(event);
    if (found === null || event.seq <= (this.#said?.get(keyOf(found)) ?? 0)) return null;
    return this.#options.announcer.announce(found.place, found.line);
  }

  /** The line about an event in the channel of its project, or null. */
  #lineOf(event: ProjectEvent): PlacedLine | null {
    const { projects, channels } = this.#options;
    const project = projects.get(event.data.project_id)?.project;
    const place = project === undefined ? null : channels.nameOf(project);
    const line = place === null ? null : lineOf(event);
    if (project === undefined || place === null || line === null) return null;
    const prefix = channels.isShared(project) ? `[${project.slug}] ` : "";
    // With the time, because another log may have begun beside the same history.
    const id = `event-${event.seq}-${Date.parse(event.time)}`;
    return { place, line: { kind: line.kind, text: prefix + line.text, id } };
  }

  /**
   * The last events that were announced before the start, from an event on. A line stands for all
   * earlier ones of its place and kind.
   */
  async #saidFrom(first: LoggedEvent): Promise<ReadonlyMap<string, number>> {
    const { eventLog, hasSaid } = this.#options;
    const lines = new Map<string, (PlacedLine & { readonly seq: number })[]>();
    for (let after = first.seq - 1, more = true; more && after < this.#before;) {
      const read = await eventLog.read({ after, types: ["project.*"], limit: PAGE });
      for (const one of read.events) {
        const event = one.seq > this.#before ? null : this.#eventHere(one);
        const found = event === null ? null : this.#lineOf(event);
        if (found === null) continue;
        const key = keyOf(found);
        const held = lines.get(key) ?? [];
        held.push({ ...found, seq: one.seq });
        if (held.length > MAX_ASKED) held.shift();
        lines.set(key, held);
      }
      ({ cursor: after, more } = read);
    }
    const said = new Map<string, number>();
    for (const [key, all] of lines) {
      for (const { place, line: { id }, seq } of all.reverse()) {
        if (!await hasSaid(place, id)) continue;
        said.set(key, seq);
        break;
      }
    }
    return said;
  }

  /** Sends a line to a person who is on IRC. */
  #tell({ account, kind, isFailure, text }: AddressedConcern, slug: string): void {
    const { people, announcer } = this.#options;
    for (const nick of people?.nicksOf(account.name) ?? []) {
      announcer.announce(nick, {
        kind: isFailure === true ? failureKind(kind) : kind,
        text: `[${slug}] ${text}`,
      });
    }
  }

  /** @param lines gets what sends lines to people */
  async #entriesOf(
    event: ProjectEvent,
    lines: (() => void)[],
  ): Promise<readonly Notification[]> {
    const { projects, roster, log } = this.#options;
    const held = projects.get(event.data.project_id);
    if (held === null) return [];
    let concerns: readonly AddressedConcern[] = [];
    try {
      concerns = await this.#concerns.of(held, event, mayRead);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      // A single unreadable event must not block the others.
      log.error("An event could not be turned into notifications", { seq: event.seq, error });
    }
    return concerns.flatMap((concern): Notification[] => {
      const { nick, kind, from, text, about } = concern;
      const project = held.project.slug;
      const agents = roster.receivers(nick);
      if (agents.length === 0) {
        lines.push(() => this.#tell(concern, project));
        return [];
      }
      const proven = event.actor.endsWith(`:${from}`) && event.actor_id !== null ? from : null;
      const id = `event-${event.seq}`;
      const entry = { id, kind, from, account: proven, text, project, ...about };
      return agents.map((agent) => ({ agent, time: Date.parse(event.time), entry }));
    });
  }
}
