import type { Roster } from "../../people/agents/mod.ts";
import { type Database, Unchanged } from "../../engines/database/mod.ts";
import { Conflict } from "../../kernel/errors.ts";
import { newEvent, type Origin, type QuestionEvent, SYSTEM } from "../../engines/events/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import type { InboxDoor, Notification } from "../../chat/inboxes/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Projects } from "../../work/projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { Sweep, TimedSweep } from "../../kernel/sweep.ts";
import { newUlid } from "../../kernel/ulid.ts";
import { type Closing, dueAt, excerptOf, lineOf, type Party, type Question } from "./question.ts";
import type { QuestionBook } from "./question_book.ts";

/** Characters of an answer that the refusal of another one shows. */
const MAX_SHOWN = 200;

interface EndingsOptions {
  readonly database: Pick<Database, "commit">;
  readonly book: QuestionBook;
  readonly accounts: Pick<AccountDirectory, "get">;
  readonly roster: Pick<Roster, "receiver" | "receivers">;
  readonly scheduler: Pick<Scheduler, "now">;
  readonly log: Log;
  /** What an event tells of a question. */
  readonly eventOf: (question: Question) => QuestionEvent;
  /** Called once the end of a question is on disk; its asker may be owed a notice. */
  readonly onEnded: (question: Question, isNoticeOwed: boolean) => void;
}

/** Ends questions, each of them once. */
export class Endings {
  readonly #options: EndingsOptions;
  /** The end of a question that is being written. */
  readonly #running = new Map<number, Promise<unknown>>();

  constructor(options: EndingsOptions) {
    this.#options = options;
  }

  /** Ends a question whose deadline has passed. */
  async expire(question: Question): Promise<void> {
    const answer = question.default;
    const via = answer === null ? null : "default";
    try {
      await this.end(question, { state: "expired", answer, closedBy: null, via }, SYSTEM);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
  }

  /** Ends a question, unless somebody else does so first. */
  async end(question: Question, closing: Closing, origin: Origin): Promise<Question> {
    const { id } = question;
    for (let running; (running = this.#running.get(id)) !== undefined;) {
      await running.catch(() => {});
    }
    const open = this.#options.book.get(id);
    if (open === null) throw ended(await this.#options.book.find(id) ?? question);
    const writing = this.#writeEnd(open, closing, origin);
    this.#running.set(id, writing);
    try {
      return await writing;
    } finally {
      this.#running.delete(id);
    }
  }

  async #writeEnd(question: Question, closing: Closing, origin: Origin): Promise<Question> {
    const { scheduler, database, roster, onEnded } = this.#options;
    const now = scheduler.now();
    const { asker } = question;
    const isToTell = asker.id !== null && roster.receiver(asker.name) !== null &&
      closing.closedBy?.id !== asker.id;
    const notice = isToTell ? newUlid(now) : null;
    const after: Question = { ...question, ...closing, frozenAt: null, closedAt: now };
    const statements = [this.#options.book.closing(question, closing, now, notice)];
    try {
      await database.commit({ statements, events: [this.#endOf(after, origin)] });
    } catch (error) {
      if (!(error instanceof Unchanged)) throw error;
      throw ended(await this.#options.book.find(question.id) ?? question);
    }
    onEnded(after, notice !== null);
    return after;
  }

  #endOf(question: Question, origin: Origin) {
    const data = this.#options.eventOf(question);
    const time = question.closedAt ?? 0;
    const { closedBy, via, answer } = question;
    switch (question.state) {
      case "answered": {
        const by = closedBy?.name ?? "";
        return newEvent("question.answered", { ...data, by, via: via ?? "" }, origin, time);
      }
      case "expired":
        return newEvent(
          "question.expired",
          { ...data, has_default: answer !== null },
          origin,
          time,
        );
      default:
        return newEvent("question.withdrawn", data, origin, time);
    }
  }

  /** Withdraws the questions of an account that is revoked or deleted. */
  withdrawAllOf(accountId: string): void {
    const account = this.#options.accounts.get(accountId);
    if (account !== null && account.revokedAt === null) return;
    for (const question of [...this.#options.book.all()]) {
      if (question.asker.id !== accountId) continue;
      this.end(question, withdrawnBy(null), SYSTEM).catch((error: unknown) => {
        if (error instanceof Conflict) return;
        this.#options.log.warn("A question of a revoked agent stays open", { error });
      });
    }
  }

  /** Resolves when no end is being written. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }
}

/** The end of a withdrawn question; null if no account withdrew it. */
export function withdrawnBy(closedBy: Party | null): Closing {
  return { state: "withdrawn", answer: null, closedBy, via: null };
}

/** The refusal for a question that has ended. */
export function ended({ id, state, closedBy, answer }: Question): Conflict {
  const by = closedBy === null ? "" : ` by ${closedBy.name}`;
  const said = answer === null ? "" : `: ${lineOf(answer, MAX_SHOWN)}`;
  return new Conflict(`Question ${id} is ${state}${by} already${said}`);
}

/** Pause before another attempt after a failure. */
const RETRY_MS = 5000;

interface DeadlinesOptions {
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** The open questions. */
  open(): Iterable<Question>;
  /** Whether the deadline of a question stands still. */
  stands(question: Question): boolean;
  /** Ends a question, unless somebody else does so. */
  expire(question: Question): Promise<void>;
}

/** Ends questions at their deadlines, also those that passed while muster was down. */
export class Deadlines {
  readonly #options: DeadlinesOptions;
  readonly #sweep: TimedSweep;

  constructor(options: DeadlinesOptions) {
    this.#options = options;
    const { scheduler, log } = options;
    this.#sweep = new TimedSweep({
      scheduler,
      log,
      name: "end questions",
      task: () => this.#endDue(),
    });
  }

  /** Looks at every question, now and when the next deadline comes. */
  sweep(): void {
    this.#sweep.start();
  }

  /** Schedules a look for a deadline. */
  expect(deadline: number): void {
    this.#sweep.expect(deadline);
  }

  /** Resolves when no question is being ended; for tests, too. */
  async idle(): Promise<void> {
    await this.#sweep.idle();
  }

  async close(): Promise<void> {
    await this.#sweep.close();
  }

  /** @returns the next deadline */
  async #endDue(): Promise<number> {
    const { scheduler, log, open, stands, expire } = this.#options;
    let next = Infinity;
    for (const question of [...open()]) {
      if (stands(question)) continue;
      if (dueAt(question) > scheduler.now()) next = Math.min(next, dueAt(question));
      else {
        try {
          await expire(question);
        } catch (error) {
          log.warn("A question could not be ended yet", { question: question.id, error });
          next = Math.min(next, scheduler.now() + RETRY_MS);
        }
      }
    }
    return next;
  }
}

/** Notices of one round. */
const AT_ONCE = 100;

interface AskerNoticesOptions {
  readonly book: QuestionBook;
  readonly database: Database;
  readonly roster: Pick<Roster, "receiver" | "receivers">;
  readonly inboxes: Pick<InboxDoor, "notify">;
  readonly projects: Pick<Projects, "get">;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Tells agents in their inboxes how their questions ended. A notice that is owed is in the database,
 * so that it also arrives after a crash; its id keeps it from arriving twice.
 */
export class AskerNotices {
  readonly #options: AskerNoticesOptions;
  readonly #sweep: Sweep;
  #isClosed = false;
  #cancel = () => {};

  constructor(options: AskerNoticesOptions) {
    this.#options = options;
    const { log } = options;
    this.#sweep = new Sweep({ log, name: "tell askers of answers", task: () => this.#sendSome() });
  }

  /** Sends every notice that is owed. */
  send(): void {
    if (this.#isClosed) return;
    this.#sweep.start();
  }

  async idle(): Promise<void> {
    await this.#sweep.idle();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.#sweep.idle();
  }

  async #sendSome(): Promise<void> {
    const { book, database, inboxes, scheduler, log } = this.#options;
    try {
      const owed = await book.untold(AT_ONCE);
      if (owed.length === 0) return;
      await inboxes.notify(owed.flatMap(({ question, notice }) => this.#entryOf(question, notice)));
      await database.commit({ statements: owed.map(({ question }) => book.telling(question)) });
      this.#sweep.start();
    } catch (error) {
      log.warn("Agents could not be told of answers yet", { error });
      this.#cancel();
      if (!this.#isClosed) this.#cancel = scheduler.after(RETRY_MS, () => this.send());
    }
  }

  #entryOf(question: Question, id: string): Notification[] {
    const { roster, projects } = this.#options;
    const { asker, closedBy, ticket, closedAt } = question;
    const agents = asker.id === null ? [] : roster.receivers(asker.name);
    const slug = ticket === null ? undefined : projects.get(ticket.projectId)?.project.slug;
    const by = closedBy?.name ?? "muster";
    const about = slug === undefined || ticket === null
      ? { question: question.id }
      : { question: question.id, project: slug, ticket: ticket.uuid };
    return agents.map((agent) => ({
      agent,
      time: closedAt ?? 0,
      entry: {
        id,
        kind: "question",
        from: by,
        account: closedBy?.name ?? null,
        text: sentenceOf(question),
        ...about,
      },
    }));
  }
}

/** What became of a question, for its asker. */
function sentenceOf(question: Question): string {
  const { id, text, state, answer, closedBy } = question;
  const which = `your question ${id} (${excerptOf(text)})`;
  const by = closedBy?.name ?? "muster";
  if (state === "answered") return `${by} answered ${which}: ${answer}`;
  if (state === "withdrawn") return `${by} withdrew ${which}`;
  return answer === null
    ? `Nobody answered ${which} until its deadline`
    : `Nobody answered ${which} until its deadline, so its default counts: ${answer}`;
}
