import type { Roster } from "../agents/mod.ts";
import type { Database } from "../database/mod.ts";
import type { InboxDoor, Notification } from "../inboxes/mod.ts";
import type { Log } from "../log.ts";
import type { Projects } from "../projects/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import { Sweep } from "../sweep.ts";
import type { Question } from "./question.ts";
import type { QuestionBook } from "./question_book.ts";
import { excerptOf } from "./words.ts";

/** Notices of one round. */
const AT_ONCE = 100;

/** Pause before another attempt after a failure. */
const RETRY_MS = 5000;

export interface AskerNoticesOptions {
  readonly book: QuestionBook;
  readonly database: Database;
  readonly roster: Pick<Roster, "get">;
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
    const agent = asker.id === null ? null : roster.get(asker.id);
    if (agent === null) return [];
    const slug = ticket === null ? undefined : projects.get(ticket.projectId)?.project.slug;
    const by = closedBy?.name ?? "muster";
    const about = slug === undefined || ticket === null
      ? { question: question.id }
      : { question: question.id, project: slug, ticket: ticket.uuid };
    return [{
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
    }];
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
