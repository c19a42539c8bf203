import { type Database, type Statement, statement } from "../../engines/database/mod.ts";
import { ServiceError, Unavailable } from "../../kernel/errors.ts";
import { type EventLog, LastingFollowing, type LoggedEvent } from "../../engines/events/mod.ts";
import { type Caller, OPERATOR } from "../../people/identity/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type {
  Project,
  ProjectRepositories,
  Projects,
  RegisteredKind,
} from "../../work/projects/mod.ts";
import type { ReviewStore } from "../../work/reviews/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Tickets } from "../../work/tickets/mod.ts";
import { isByOtherProgram, type ProjectEvent, projectEventOf } from "./events.ts";
import { landingText } from "./lines.ts";

/** The row that says up to which event the notes are written. */
const WRITTEN = "ticket_notes.written";

/** The user of the comments. */
const USER = "muster";

/** muster itself: no request is the cause. */
const BY_MUSTER: Caller = { principal: OPERATOR, address: null, requestId: null };

export interface TicketNotesOptions {
  readonly tickets: Pick<Tickets, "note" | "close">;
  readonly reviews: ReviewStore;
  readonly projects: Pick<Projects, "get">;
  readonly repositories: ProjectRepositories;
  readonly database: Database;
  readonly eventLog: EventLog;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** What becomes of a ticket because of an event. */
interface Effect {
  readonly projectId: string;
  /** Its whole id. */
  readonly ticket: string;
  /** The text of a comment; null to close the ticket. */
  readonly comment: string | null;
}

/**
 * Comments on the ticket of a review that landed or came back from the queue, and closes the ticket
 * of work that another program or a push merged. The write and the number of its event are settled together,
 * so a kill neither loses a comment nor doubles one.
 */
export class TicketNotes {
  readonly #options: TicketNotesOptions;
  readonly #following: LastingFollowing;
  readonly #kind: RegisteredKind<{ readonly seq: number }>;

  /** Make it before intentions are settled. */
  constructor(options: TicketNotesOptions) {
    this.#options = options;
    this.#kind = options.repositories.intentions.register<{ readonly seq: number }>({
      name: "ticket.note",
      settle: ({ body: { seq }, project }) => ({ statements: [this.#noting(project, seq)] }),
    });
    this.#following = new LastingFollowing({
      ...options,
      name: options.repositories.homes.nameOf("ticket_notes"),
      types: ["project.landing", "project.review", "project.workspace"],
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

  /** Resolves when the effects of what happened so far are written; for tests. */
  idle(): Promise<void> {
    return this.#following.idle();
  }

  async #take(events: readonly LoggedEvent[]) {
    for (const one of events) {
      const event = projectEventOf(one);
      const isOurs = event !== null && this.#isHere(event.data.project_id);
      const effect = isOurs ? await this.#effectOf(event) : null;
      if (effect !== null) await this.#apply(effect, one.seq);
    }
    return {};
  }

  #isHere(id: string): boolean {
    return this.#options.repositories.homes.isHere({ id });
  }

  async #effectOf(event: ProjectEvent): Promise<Effect | null> {
    switch (event.type) {
      case "project.landing": {
        const { project_id: projectId, review, status } = event.data;
        const comment = landingText(event.data);
        if (comment === null || (status !== "landed" && status !== "returned")) return null;
        const ticket = (await this.#options.reviews.find(projectId, review))?.ticket ?? null;
        return ticket === null ? null : { projectId, ticket, comment };
      }
      case "project.review":
      case "project.workspace": {
        const { project_id: projectId, ticket, status } = event.data;
        if (status !== "merged" || ticket === null) return null;
        const isOpen = isByOtherProgram(event) ||
          await this.#isLeftOpen({ projectId, ticket, time: Date.parse(event.time) });
        return isOpen ? { projectId, ticket, comment: null } : null;
      }
      default:
        return null;
    }
  }

  /**
   * Whether a merge left its ticket open: a pushed one does, a merge through the API closes it. What
   * changed the ticket since knows better.
   */
  async #isLeftOpen(
    { projectId, ticket, time }: {
      readonly projectId: string;
      readonly ticket: string;
      readonly time: number;
    },
  ): Promise<boolean> {
    const project = this.#options.projects.get(projectId)?.project;
    if (project === undefined) return false;
    return await this.#options.repositories.read(project, async (repository) => {
      if (await repository.isTicketClosed(ticket)) return false;
      const { last_modified } = await repository.resolveTicket(ticket);
      return Date.parse(last_modified) < time;
    });
  }

  async #apply({ projectId, ticket, comment }: Effect, seq: number): Promise<void> {
    const { projects, log } = this.#options;
    const project = projects.get(projectId)?.project;
    if (project === undefined || !this.#isHere(projectId)) return;
    try {
      await this.#write(project, { ticket, comment, seq });
    } catch (error) {
      if (error instanceof Unavailable || !(error instanceof ServiceError)) throw error;
      log.warn("A ticket stays as it is after a merge or a landing", {
        slug: project.slug,
        ticket,
        error,
      });
    }
  }

  async #write(
    project: Project,
    { ticket, comment, seq }: Pick<Effect, "ticket" | "comment"> & { readonly seq: number },
  ): Promise<void> {
    const { tickets, repositories, database } = this.#options;
    // Settles what an earlier process began.
    await repositories.catchUp(project);
    const row = await database.tables.selectFrom("event_cursors").select("seq")
      .where("name", "=", this.#writtenIn(project)).executeTakeFirst();
    if (row !== undefined && row.seq >= seq) return;
    const write = { user: USER, caller: BY_MUSTER, intention: { kind: this.#kind, body: { seq } } };
    if (comment === null) await tickets.close(project, ticket, write);
    else await tickets.note(project, ticket, { ...write, comment });
  }

  /** Nodes handle events of their projects at different times, so each project has its own row. */
  #writtenIn({ id }: Pick<Project, "id">): string {
    return this.#options.repositories.homes.self === null ? WRITTEN : `${WRITTEN}.${id}`;
  }

  #noting(project: Pick<Project, "id">, seq: number): Statement {
    const insertion = this.#options.database.tables.insertInto("event_cursors")
      .values({ name: this.#writtenIn(project), seq })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ seq }));
    return statement(insertion);
  }
}
