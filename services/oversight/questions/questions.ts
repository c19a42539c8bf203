import type { Halts, Roster } from "../../people/agents/mod.ts";
import { type Database, Duplicate } from "../../engines/database/mod.ts";
import { Forbidden, Invalid, NotFound } from "../../kernel/errors.ts";
import { newEvent, type QuestionEvent } from "../../engines/events/mod.ts";
import {
  type AccountDirectory,
  type Caller,
  CallerQuota,
  type Identity,
  isOverseer,
  OPERATOR,
  originOf,
  type Principal,
} from "../../people/identity/mod.ts";
import type { InboxDoor } from "../../chat/inboxes/mod.ts";
import type { EarlyEnd } from "../../kernel/early_end.ts";
import type { Log } from "../../kernel/log.ts";
import { MAX_NEEDS_OF_SOURCE, type Need, type NeedSource } from "../../people/needs/mod.ts";
import {
  accessOf,
  type HeldProject,
  type Project,
  type Projects,
  type ReadsAnywhere,
} from "../../work/projects/mod.ts";
import type { Tickets } from "../../work/tickets/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { Asking, choiceOf, type Draft } from "./asking.ts";
import { AskerNotices, Deadlines, ended, Endings, withdrawnBy } from "./endings.ts";
import { type AnswerWay, lineOf, type Question } from "./question.ts";
import { MAX_PAGE, QuestionBook, type Replaced } from "./question_book.ts";
import type { NewQuestion } from "./schemas.ts";

export interface QuestionsOptions {
  readonly database: Database;
  readonly accounts: Pick<AccountDirectory, "find" | "get">;
  readonly identity: Pick<Identity, "onEnded">;
  readonly roster: Pick<Roster, "receiver" | "receivers">;
  readonly halts: Pick<Halts, "reasonById">;
  /** What an agent's question counts against. */
  readonly speech: { admit(principal: Principal, messages: number): void };
  readonly inboxes: Pick<InboxDoor, "notify">;
  readonly projects: Projects;
  readonly reads: Pick<ReadsAnywhere, "read">;
  readonly tickets: Pick<Tickets, "resolve">;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** The ticket that a question is about. */
export interface QuestionTicket {
  readonly project: Project;
  readonly uuid: string;
}

/** A question was asked, or has ended. */
export type QuestionListener = (question: Question) => void;

/** Questions of agents to people: the first answer wins, and at the deadline the default does. */
export class Questions {
  readonly #options: QuestionsOptions;
  readonly #book: QuestionBook;
  readonly #asking: Asking;
  readonly #endings: Endings;
  readonly #deadlines: Deadlines;
  readonly #notices: AskerNotices;
  readonly #waits: QuestionWaits;
  readonly #listeners = new Set<QuestionListener>();
  /** Whether this node ends questions at their deadlines and tells askers. */
  #isKeeper = false;
  /** What listeners are being told of questions that other nodes have ended. */
  #telling: Promise<void> = Promise.resolve();
  readonly #stopListening: () => void;

  private constructor(options: QuestionsOptions, book: QuestionBook) {
    const { scheduler, log, halts, identity } = options;
    this.#options = options;
    this.#book = book;
    this.#asking = new Asking({ ...options, book });
    this.#waits = new QuestionWaits(scheduler);
    this.#notices = new AskerNotices({ ...options, book });
    this.#endings = new Endings({
      ...options,
      book,
      eventOf: (question) => this.#eventOf(question),
      onEnded: (question, isNoticeOwed) => {
        this.#waits.ended(question.id);
        if (isNoticeOwed && this.#isKeeper) this.#notices.send();
        this.#tell(question);
      },
    });
    this.#deadlines = new Deadlines({
      scheduler,
      log,
      open: () => this.#isKeeper ? book.all() : [],
      stands: ({ asker, frozenAt }) => frozenAt !== null || halts.reasonById(asker.id) !== null,
      expire: (question) => this.#endings.expire(question),
    });
    this.#stopListening = identity.onEnded(({ accountId }) => {
      if (accountId !== null) this.#endings.withdrawAllOf(accountId);
    });
    book.onReplaced((replaced) => this.#take(replaced));
  }

  /** Reads the open questions from the database. */
  static async open(options: QuestionsOptions): Promise<Questions> {
    return new Questions(options, await QuestionBook.open(options.database));
  }

  /**
   * Ends questions whose deadlines passed while the program was down, and sends owed notices. Of
   * several nodes, one does this; the others do everything else.
   */
  start(): void {
    this.#isKeeper = true;
    this.#deadlines.sweep();
    this.#notices.send();
  }

  /** Leaves deadlines and notices to another node. */
  async stop(): Promise<void> {
    this.#isKeeper = false;
    await this.#deadlines.idle();
    await this.#notices.idle();
  }

  /**
   * Asks a question. Asked again while it is open, it is the same question.
   *
   * @returns the question, once it is on disk, and whether it is new
   * @throws Forbidden if the caller may not ask or is paused, Halted, Invalid, NotFound and Conflict
   * for the receiver and the ticket, TooMany, Unavailable
   */
  async ask(
    request: NewQuestion,
    caller: Caller,
  ): Promise<{ readonly question: Question; readonly isNew: boolean }> {
    const { scheduler, speech, halts } = this.#options;
    const { principal } = caller;
    const draft = await this.#asking.draft(request, caller, scheduler.now());
    const same = this.#asking.sameAs(draft);
    if (same !== null) return { question: same, isNew: false };
    const release = this.#asking.reserve(caller);
    try {
      if (principal.kind === "agent") speech.admit(principal, 1);
      const question = await this.#insert(draft, caller);
      if (question.deadline !== null) this.#deadlines.expect(question.deadline);
      // A halt that came meanwhile did not see it.
      if (halts.reasonById(principal.id) !== null) await this.#freeze();
      this.#tell(question);
      return { question, isNew: true };
    } finally {
      release();
    }
  }

  /**
   * Answers a question. Of several answers at once, the first one counts.
   *
   * @throws NotFound if there is no such question or the caller may not know of it; Forbidden if it
   * may not answer; Invalid if the answer is none of the choices; Conflict, which names the winner,
   * if the question has ended; Unavailable
   */
  async answer(id: number, answer: string, by: Caller, via: AnswerWay): Promise<Question> {
    const question = await this.get(id, by.principal);
    if (!mayAnswer(question, by.principal, this.#options.projects)) {
      throw new Forbidden("People answer questions: you asked this one");
    }
    return await this.#answer(question, answer, by, via);
  }

  /**
   * Records what the asker's client says that its user answered. The client is the asker's, and so
   * is what it says: the answer counts for the asker alone, who may not have asked anybody by name.
   *
   * @throws like {@link answer}
   */
  async answerByUser(id: number, answer: string, asker: Caller): Promise<Question> {
    const question = await this.get(id, asker.principal);
    if (question.asker.id !== asker.principal.id || question.to !== null) {
      throw new Forbidden(
        "The user of a client answers what its own agent asked, and asked nobody",
      );
    }
    return await this.#answer(question, answer, asker, "elicitation");
  }

  async #answer(
    question: Question,
    answer: string,
    by: Caller,
    via: AnswerWay,
  ): Promise<Question> {
    if (question.state !== "open") throw ended(question);
    const chosen = choiceOf(question.choices, answer);
    if (chosen === undefined) {
      const list = question.choices.map((choice) => `"${choice}"`).join(", ");
      throw new Invalid(`"answer" must be one of ${list}`);
    }
    const { id: accountId, name } = by.principal;
    const closedBy = { id: accountId, name };
    return await this.#endings.end(
      question,
      { state: "answered", answer: chosen, closedBy, via },
      originOf(by),
    );
  }

  /**
   * Withdraws a question, which its asker and admins may do.
   *
   * @throws like {@link answer}
   */
  async withdraw(id: number, by: Caller): Promise<Question> {
    const question = await this.get(id, by.principal);
    const { id: accountId, name } = by.principal;
    if (!isOverseer(by.principal) && question.asker.id !== accountId) {
      throw new Forbidden("Only its asker and admins withdraw a question");
    }
    return await this.#endings.end(question, withdrawnBy({ id: accountId, name }), originOf(by));
  }

  /** @throws NotFound if there is no such question, or the reader may not know of it */
  async get(id: number, reader: Principal): Promise<Question> {
    const question = await this.#book.find(id);
    if (question === null || !maySee(question, reader, this.#options.projects)) {
      throw new NotFound(`There is no question ${id}, or it is not yours`);
    }
    return question;
  }

  /**
   * A question, once it has ended or the time is over.
   *
   * @throws like {@link get}; TooMany if too many wait
   */
  async wait(
    id: number,
    reader: Principal,
    { seconds, end }: { readonly seconds: number; readonly end: EarlyEnd },
  ): Promise<Question> {
    const question = await this.get(id, reader);
    if (question.state !== "open" || seconds === 0 || end.isOver) return question;
    await this.#waits.wait(id, reader, { milliseconds: seconds * 1000, end });
    return await this.get(id, reader);
  }

  /** The questions that a reader may know of, newest first. */
  async list(
    reader: Principal,
    filter: {
      readonly isOpen?: boolean | undefined;
      readonly before?: number | undefined;
      readonly limit?: number | undefined;
    },
  ): Promise<readonly Question[]> {
    const { isOpen, before, limit = MAX_PAGE } = filter;
    const { projects } = this.#options;
    const whose = isOverseer(reader) ? undefined : {
      accountId: reader.id ?? "",
      projects: projectsToAnswerFor(reader, projects),
    };
    return await this.#book.list({ isOpen, before, limit, whose });
  }

  /** The ids of the accounts that have an open question. */
  askers(): ReadonlySet<string> {
    return new Set([...this.#book.all()].flatMap(({ asker }) => asker.id ?? []));
  }

  /** Whether an agent has asked a question under a name that nobody has answered. */
  isOpenOf(agentId: string, name: string): boolean {
    return [...this.#book.all()].some(({ asker }) => asker.id === agentId && asker.name === name);
  }

  /** The open questions that a reader may know of, oldest first. */
  open(reader: Principal): readonly Question[] {
    const { projects } = this.#options;
    return [...this.#book.all()].filter((question) => maySee(question, reader, projects));
  }

  /** Whether a reader may answer a question. */
  isFor(question: Question, reader: Principal): boolean {
    return mayAnswer(question, reader, this.#options.projects);
  }

  /** The ticket of a question; null if it has none, or the reader may not read the project. */
  ticketOf({ ticket }: Question, reader: Principal): QuestionTicket | null {
    const held = ticket === null ? null : this.#options.projects.get(ticket.projectId);
    if (ticket === null || held === null || !accessOf(held, reader).may("read")) return null;
    return { project: held.project, uuid: ticket.uuid };
  }

  /**
   * Calls a listener with each question when it is asked and when it has ended.
   *
   * @param listener must not throw
   * @returns a function that ends the subscription
   */
  onChanged(listener: QuestionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Statements for the transaction of a halt or its end: deadlines stand still, or run on. */
  freezing(isHalted: (accountId: string) => boolean, now: number) {
    return this.#book.freezing(isHalted, now);
  }

  /** Looks at the deadlines again, after some of them began to run on. */
  thawed(): void {
    this.#deadlines.sweep();
  }

  /** Resolves when nothing is on its way; for tests. */
  async idle(): Promise<void> {
    await this.#endings.settled();
    await this.#deadlines.idle();
    await this.#notices.idle();
  }

  /** Ends every wait, and refuses none: later ones end at once. */
  endWaits(): void {
    this.#waits.close();
  }

  /** Ends every wait, and the deadlines until the next start. */
  async close(): Promise<void> {
    this.#stopListening();
    this.endWaits();
    await this.#deadlines.close();
    await this.#endings.settled();
    await this.#notices.close();
    await this.#telling;
  }

  #eventOf(question: Question): QuestionEvent {
    return {
      question: question.id,
      asker: question.asker.name,
      to: question.to?.name ?? null,
      project: this.ticketOf(question, OPERATOR)?.project.slug ?? null,
    };
  }

  /** Writes a question, with the next free number. */
  async #insert(draft: Draft, caller: Caller): Promise<Question> {
    const { database, scheduler } = this.#options;
    for (;;) {
      const now = scheduler.now();
      const question: Question = {
        ...draft,
        id: this.#book.newId(),
        askedAt: now,
        frozenAt: null,
        state: "open",
        answer: null,
        closedBy: null,
        via: null,
        closedAt: null,
      };
      const event = newEvent("question.asked", this.#eventOf(question), originOf(caller), now);
      try {
        await database.commit({ statements: this.#book.insertion(question), events: [event] });
        return question;
      } catch (error) {
        // Another node took the number.
        if (!(error instanceof Duplicate)) throw error;
      }
    }
  }

  /** Handles what other nodes have asked and ended. */
  #take({ asked, ended: numbers }: Replaced): void {
    for (const question of asked) {
      if (question.deadline !== null) this.#deadlines.expect(question.deadline);
      this.#tell(question);
    }
    for (const id of numbers) this.#waits.ended(id);
    if (numbers.length === 0) return;
    if (this.#isKeeper) this.#notices.send();
    this.#telling = this.#telling.then(() => this.#tellEnds(numbers));
  }

  async #tellEnds(numbers: readonly number[]): Promise<void> {
    try {
      for (const id of numbers) {
        const question = await this.#book.find(id);
        if (question !== null) this.#tell(question);
      }
    } catch (error) {
      this.#options.log.warn("The end of a question could not be told", { error });
    }
  }

  async #freeze(): Promise<void> {
    const { database, halts, scheduler } = this.#options;
    const isHalted = (id: string) => halts.reasonById(id) !== null;
    await database.commit({ statements: this.#book.freezing(isHalted, scheduler.now()) });
  }

  #tell(question: Question): void {
    for (const listener of this.#listeners) listener(question);
  }
}

/** Most readers that may wait at once; an eighth of them is the operator's and the admins'. */
const MAX_READERS = 6000;

/** Requests that wait for the end of a question. */
class QuestionWaits {
  readonly #scheduler: Scheduler;
  readonly #waiting = new Map<number, Set<() => void>>();
  readonly #quota = new CallerQuota(MAX_READERS, {
    things: "requests",
    state: "waiting for answers",
  });
  #isClosed = false;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /**
   * Resolves when a question has ended, when the time is over, or at an early end.
   *
   * @param reader whose quota the wait counts against
   * @throws TooMany
   */
  async wait(
    id: number,
    reader: Principal,
    { milliseconds, end }: { readonly milliseconds: number; readonly end: EarlyEnd },
  ): Promise<void> {
    if (this.#isClosed) return;
    using _held = this.#quota.take({ principal: reader, address: null });
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting.add(resolve));
    const cancel = this.#scheduler.after(milliseconds, resolve);
    end.onEnd = resolve;
    await promise;
    cancel();
    waiting.delete(resolve);
    if (waiting.size === 0 && this.#waiting.get(id) === waiting) this.#waiting.delete(id);
  }

  /** Ends the waits for a question. */
  ended(id: number): void {
    for (const resolve of this.#waiting.get(id) ?? []) resolve();
  }

  /** Ends every wait. */
  close(): void {
    this.#isClosed = true;
    for (const id of this.#waiting.keys()) this.ended(id);
  }
}

/** What the rights depend on: who is a member of which project. */
type Memberships = Pick<Projects, "get" | "all">;

/**
 * Whether a question is for somebody to answer. Admins and the operator may answer each one. A
 * person may answer those that it is asked by name; and if nobody was named, those about a ticket
 * of a project in which it may write. Agents answer none.
 */
function mayAnswer(
  { to, ticket }: Question,
  principal: Principal,
  projects: Memberships,
): boolean {
  if (isOverseer(principal)) return true;
  const { kind, id } = principal;
  if (kind !== "person" || id === null) return false;
  if (to !== null) return to.id === id;
  const held = ticket === null ? null : projects.get(ticket.projectId);
  return held !== null && isWriter(held, id);
}

/** Whether somebody may read a question: who may answer it, who asked, and who ended it. */
function maySee(question: Question, principal: Principal, projects: Memberships): boolean {
  const { id } = principal;
  if (mayAnswer(question, principal, projects)) return true;
  return id !== null && (question.asker.id === id || question.closedBy?.id === id);
}

/** The projects about whose tickets a person may answer. */
function projectsToAnswerFor(
  { kind, id }: Principal,
  projects: Memberships,
): readonly string[] {
  if (kind !== "person" || id === null) return [];
  return projects.all().filter((held) => isWriter(held, id)).map(({ project }) => project.id);
}

function isWriter({ members }: HeldProject, accountId: string): boolean {
  const role = members.get(accountId);
  return role === "write" || role === "admin";
}

/** Longest title of a need. */
const MAX_TITLE = 200;

/** Open questions wait for those who may answer them. */
export class QuestionNeeds implements NeedSource {
  readonly kinds = ["question"] as const;
  readonly #questions: Pick<Questions, "open" | "isFor" | "ticketOf">;

  constructor(questions: Pick<Questions, "open" | "isFor" | "ticketOf">) {
    this.#questions = questions;
  }

  needs(reader: Principal): readonly Need[] {
    return this.#questions.open(reader).slice(0, MAX_NEEDS_OF_SOURCE)
      .map((question) => this.#needOf(question, reader));
  }

  #needOf(question: Question, reader: Principal): Need {
    const { id, text, asker, to, deadline, frozenAt, askedAt } = question;
    const isNamed = to !== null && to.id === reader.id;
    return {
      kind: "question",
      id: `question/${id}`,
      title: lineOf(text, MAX_TITLE),
      why: `${asker.name} asks`,
      actors: to === null ? [] : [to.name],
      group: to !== null ? null : question.ticket === null ? "admins" : "members",
      isYours: isNamed || (to === null && this.#questions.isFor(question, reader)),
      since: askedAt,
      until: frozenAt === null ? deadline : null,
      project: this.#questions.ticketOf(question, reader)?.project.slug ?? null,
      link: `/questions/${id}`,
    };
  }
}
