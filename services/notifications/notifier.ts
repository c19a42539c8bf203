import type { Roster } from "../agents/mod.ts";
import type { Database } from "../database/mod.ts";
import { Unavailable } from "../errors.ts";
import { type EventLog, LastingFollowing, type LoggedEvent } from "../events/mod.ts";
import type { Inboxes, Notification } from "../inboxes/mod.ts";
import type { Log } from "../log.ts";
import { mayRead, type Projects } from "../projects/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import { type AddressedConcern, Concerns, type ConcernsOptions } from "./concerns.ts";
import { type ProjectEvent, projectEventOf } from "./events.ts";

export interface NotifierOptions extends ConcernsOptions {
  readonly projects: Pick<Projects, "get">;
  readonly roster: Pick<Roster, "get">;
  readonly inboxes: Pick<Inboxes, "notify">;
  readonly database: Database;
  readonly eventLog: EventLog;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Follows the event log, once for all projects, and says what happens to those whom it concerns:
 * agents in their inboxes. A cursor in the database says which events it has handled, and an entry's
 * id is that of its event, so a kill neither loses an entry nor doubles one.
 */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #concerns: Concerns;
  readonly #following: LastingFollowing;

  constructor(options: NotifierOptions) {
    this.#options = options;
    this.#concerns = new Concerns(options);
    this.#following = new LastingFollowing({
      ...options,
      name: "notifications",
      types: ["project.*"],
      take: (events) => this.#take(events),
    });
  }

  /** Goes on where the process before ended. */
  start(): Promise<void> {
    return this.#following.start();
  }

  close(): Promise<void> {
    return this.#following.close();
  }

  /** Resolves when everybody has been told of what happened so far; for tests. */
  idle(): Promise<void> {
    return this.#following.idle();
  }

  async #take(events: readonly LoggedEvent[]) {
    const entries: Notification[] = [];
    for (const one of events) {
      const event = projectEventOf(one);
      if (event !== null) entries.push(...await this.#entriesOf(event));
    }
    if (entries.length === 0) return null;
    await this.#options.inboxes.notify(entries);
    return {};
  }

  async #entriesOf(event: ProjectEvent): Promise<readonly Notification[]> {
    const { projects, roster, log } = this.#options;
    const held = projects.get(event.data.project_id);
    if (held === null) return [];
    let concerns: readonly AddressedConcern[] = [];
    try {
      concerns = await this.#concerns.of(held, event, mayRead);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      // One event that cannot be understood must not keep the others from everybody.
      log.error("An event could not be turned into notifications", { seq: event.seq, error });
    }
    return concerns.flatMap(({ account, kind, from, text, about }): Notification[] => {
      const agent = roster.get(account.id);
      if (agent === null) return [];
      const project = held.project.slug;
      const proven = event.actor.endsWith(`:${from}`) && event.actor_id !== null ? from : null;
      const id = `event-${event.seq}`;
      const entry = { id, kind, from, account: proven, text, project, ...about };
      return [{ agent, time: Date.parse(event.time), entry }];
    });
  }
}
