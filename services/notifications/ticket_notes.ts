import { type Database, type Statement, statement } from "../database/mod.ts";
import { ServiceError, Unavailable } from "../errors.ts";
import { type EventLog, LastingFollowing, type LoggedEvent } from "../events/mod.ts";
import { type Caller, OPERATOR } from "../identity/mod.ts";
import type { Log } from "../log.ts";
import type { Project, ProjectRepositories, Projects, RegisteredKind } from "../projects/mod.ts";
import type { ReviewStore } from "../reviews/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Tickets } from "../tickets/mod.ts";
import { type ProjectEvent, projectEventOf } from "./events.ts";
import { landingText } from "./lines.ts";

/** The row that says up to which event the notes are written. */
const WRITTEN = "ticket_notes.written";

/** The user of the comments. */
const USER = "muster";

/** muster itself: no request is the cause. */
const BY_MUSTER: Caller = { principal: OPERATOR, address: null, requestId: null };

export interface TicketNotesOptions {
  readonly tickets: Pick<Tickets, "note">;
  readonly reviews: ReviewStore;
  readonly projects: Pick<Projects, "get">;
  readonly repositories: ProjectRepositories;
  readonly database: Database;
  readonly eventLog: EventLog;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

type LandingEvent = Extract<ProjectEvent, { readonly type: "project.landing" }>;

/**
 * Comments on the ticket of a review that landed or came back from the queue. The comment and the
 * number of its event are settled together, so a kill neither loses a comment nor doubles one.
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
      settle: ({ body: { seq } }) => ({ statements: [this.#noting(seq)] }),
    });
    this.#following = new LastingFollowing({
      ...options,
      name: "ticket_notes",
      types: ["project.landing"],
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

  /** Resolves when the comments on what happened so far are written; for tests. */
  idle(): Promise<void> {
    return this.#following.idle();
  }

  async #take(events: readonly LoggedEvent[]) {
    for (const one of events) {
      const event = projectEventOf(one);
      if (event?.type === "project.landing") await this.#note(event);
    }
    return {};
  }

  async #note(event: LandingEvent): Promise<void> {
    const { projects, reviews, log } = this.#options;
    const { status, project_id, review: number } = event.data;
    const project = projects.get(project_id)?.project;
    if (project === undefined || (status !== "landed" && status !== "returned")) return;
    const ticket = (await reviews.find(project.id, number))?.ticket ?? null;
    if (ticket === null) return;
    try {
      await this.#write(project, ticket, event);
    } catch (error) {
      if (error instanceof Unavailable || !(error instanceof ServiceError)) throw error;
      log.warn("A ticket takes no comment on a landing", { slug: project.slug, ticket, error });
    }
  }

  async #write(project: Project, ticket: string, { seq, data }: LandingEvent): Promise<void> {
    const { tickets, repositories, database } = this.#options;
    // Settles what an earlier process began.
    await repositories.catchUp(project);
    const row = await database.tables.selectFrom("event_cursors").select("seq")
      .where("name", "=", WRITTEN).executeTakeFirst();
    if (row !== undefined && row.seq >= seq) return;
    const comment = landingText(data);
    if (comment === null) return;
    const intention = { kind: this.#kind, body: { seq } };
    await tickets.note(project, ticket, { comment, user: USER, caller: BY_MUSTER, intention });
  }

  #noting(seq: number): Statement {
    const insertion = this.#options.database.tables.insertInto("event_cursors")
      .values({ name: WRITTEN, seq })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ seq }));
    return statement(insertion);
  }
}
