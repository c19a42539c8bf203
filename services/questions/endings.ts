import type { Roster } from "../agents/mod.ts";
import { type Database, Unchanged } from "../database/mod.ts";
import { Conflict } from "../errors.ts";
import { newEvent, type Origin, type QuestionEvent, SYSTEM } from "../events/mod.ts";
import type { AccountDirectory } from "../identity/mod.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { newUlid } from "../ulid.ts";
import type { Closing, Party, Question } from "./question.ts";
import type { QuestionBook } from "./question_book.ts";
import { lineOf } from "./words.ts";

/** Characters of an answer that the refusal of another one shows. */
const MAX_SHOWN = 200;

export interface EndingsOptions {
  readonly database: Pick<Database, "commit">;
  readonly book: QuestionBook;
  readonly accounts: Pick<AccountDirectory, "get">;
  readonly roster: Pick<Roster, "get">;
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
    const isToTell = asker.id !== null && roster.get(asker.id) !== null &&
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
