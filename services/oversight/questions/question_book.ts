import {
  type Database,
  type Directory,
  type Statement,
  statement,
} from "../../engines/database/mod.ts";
import { type Closing, type Question, questionOf } from "./question.ts";

/** Closed questions that are kept: those with the newest numbers. */
const KEPT = 10_000;

/** Most questions of one page. */
export const MAX_PAGE = 100;

/** Which questions to list, newest first. */
export interface QuestionFilter {
  readonly isOpen?: boolean | undefined;
  /** Only those with smaller numbers. */
  readonly before?: number | undefined;
  readonly limit: number;
  /** Absent: everybody's. */
  readonly whose?: {
    /** The account that asked, was asked, or answered. */
    readonly accountId: string;
    /** Projects about whose tickets it may answer, if nobody else was asked. */
    readonly projects: readonly string[];
  } | undefined;
}

/** What other programs have done. */
export interface Replaced {
  readonly asked: readonly Question[];
  /** The numbers of questions. */
  readonly ended: readonly number[];
}

/** The questions: open ones in memory, all in the database. */
export class QuestionBook implements Directory {
  readonly tables = ["questions"] as const;
  readonly #database: Database;
  readonly #open = new Map<number, Question>();
  /** The open questions before the last load. */
  #replaced: ReadonlyMap<number, Question> = new Map();
  #onReplaced: (replaced: Replaced) => void = () => {};
  #nextId = 1;

  private constructor(database: Database) {
    this.#database = database;
  }

  static async open(database: Database): Promise<QuestionBook> {
    const book = new QuestionBook(database);
    await database.keepCurrent(book);
    return book;
  }

  async load(): Promise<void> {
    const { tables } = this.#database;
    const rows = await tables.selectFrom("questions").selectAll().where("state", "=", "open")
      .orderBy("id").execute();
    const { last } = await tables.selectFrom("questions")
      .select(({ fn }) => fn.max("id").as("last")).executeTakeFirstOrThrow();
    this.#replaced = new Map(this.#open);
    this.#open.clear();
    for (const row of rows) this.#open.set(row.id, questionOf(row));
    this.#nextId = Math.max(this.#nextId, Number(last ?? 0) + 1);
  }

  announce(): void {
    const before = this.#replaced;
    this.#replaced = new Map();
    this.#onReplaced({
      ended: [...before.keys()].filter((id) => !this.#open.has(id)),
      asked: [...this.#open.values()].filter(({ id }) => !before.has(id)),
    });
  }

  /** Sets what is told of the questions that other programs have asked and ended. */
  onReplaced(listener: (replaced: Replaced) => void): void {
    this.#onReplaced = listener;
  }

  /** A number that no question has. */
  newId(): number {
    return this.#nextId++;
  }

  /** The open questions, oldest first. */
  all(): Iterable<Question> {
    return this.#open.values();
  }

  get size(): number {
    return this.#open.size;
  }

  /** An open question, or null. */
  get(id: number): Question | null {
    return this.#open.get(id) ?? null;
  }

  /** A question in any state, or null. */
  async find(id: number): Promise<Question | null> {
    const open = this.get(id);
    if (open !== null) return open;
    const row = await this.#database.tables.selectFrom("questions").selectAll()
      .where("id", "=", id).executeTakeFirst();
    return row === undefined ? null : questionOf(row);
  }

  async list({ isOpen, before, limit, whose }: QuestionFilter): Promise<readonly Question[]> {
    const rows = await this.#database.tables.selectFrom("questions").selectAll()
      .$if(isOpen === true, (query) => query.where("state", "=", "open"))
      .$if(isOpen === false, (query) => query.where("state", "!=", "open"))
      .$if(before !== undefined, (query) => query.where("id", "<", before!))
      .$if(whose !== undefined, (query) =>
        query.where(({ or, and, eb }) =>
          or([
            eb("asker_id", "=", whose!.accountId),
            eb("to_id", "=", whose!.accountId),
            eb("closed_by_id", "=", whose!.accountId),
            ...whose!.projects.length === 0 ? [] : [
              and([eb("to_id", "is", null), eb("project_id", "in", whose!.projects)]),
            ],
          ])
        ))
      .orderBy("id", "desc").limit(limit).execute();
    return rows.map(questionOf);
  }

  /** Closed questions whose askers have no notice yet, with the ids of the notices. */
  async untold(limit: number): Promise<readonly { question: Question; notice: string }[]> {
    const rows = await this.#database.tables.selectFrom("questions").selectAll()
      .where("notice", "is not", null).orderBy("id").limit(limit).execute();
    return rows.map((row) => ({ question: questionOf(row), notice: row.notice ?? "" }));
  }

  /** Adds a question; the oldest closed ones make room. */
  insertion(question: Question): readonly Statement[] {
    const { tables } = this.#database;
    const insertion = tables.insertInto("questions").values({
      id: question.id,
      asker_id: question.asker.id,
      asker: question.asker.name,
      text: question.text,
      choices: JSON.stringify(question.choices),
      default_answer: question.default,
      asked_at: question.askedAt,
      deadline: question.deadline,
      frozen_at: null,
      to_id: question.to?.id ?? null,
      to_name: question.to?.name ?? null,
      project_id: question.ticket?.projectId ?? null,
      ticket: question.ticket?.uuid ?? null,
      state: "open",
    });
    const removal = tables.deleteFrom("questions").where("id", "<=", question.id - KEPT)
      .where("state", "!=", "open").where("notice", "is", null);
    return [
      statement(insertion, { committed: () => this.#open.set(question.id, question) }),
      statement(removal),
    ];
  }

  /**
   * Closes an open question.
   *
   * @param notice the id of the entry in the asker's inbox; null if it gets none
   */
  closing({ id }: Question, closing: Closing, at: number, notice: string | null): Statement {
    const change = this.#database.tables.updateTable("questions").set({
      state: closing.state,
      answer: closing.answer,
      closed_by_id: closing.closedBy?.id ?? null,
      closed_by: closing.closedBy?.name ?? null,
      via: closing.via,
      closed_at: at,
      frozen_at: null,
      notice,
    }).where("id", "=", id).where("state", "=", "open");
    return statement(change, { mustChange: true, committed: () => this.#open.delete(id) });
  }

  /** Notes that the asker has its notice. */
  telling({ id }: Question): Statement {
    return statement(
      this.#database.tables.updateTable("questions").set({ notice: null }).where("id", "=", id),
    );
  }

  /** Lets deadlines stand still, or run on with the time that they had left. */
  freezing(isHalted: (accountId: string) => boolean, now: number): readonly Statement[] {
    const statements: Statement[] = [];
    for (const question of this.#open.values()) {
      const { deadline, frozenAt, asker } = question;
      if (deadline === null || asker.id === null) continue;
      const halted = isHalted(asker.id);
      if (halted && frozenAt === null) {
        statements.push(this.#moving({ ...question, frozenAt: now }));
      } else if (!halted && frozenAt !== null) {
        const moved = deadline + now - frozenAt;
        statements.push(this.#moving({ ...question, frozenAt: null, deadline: moved }));
      }
    }
    return statements;
  }

  #moving(question: Question): Statement {
    const { id, deadline, frozenAt } = question;
    const change = this.#database.tables.updateTable("questions")
      .set({ deadline, frozen_at: frozenAt }).where("id", "=", id).where("state", "=", "open");
    return statement(change, {
      committed: (changes) => {
        if (changes > 0 && this.#open.has(id)) this.#open.set(id, question);
      },
    });
  }
}
