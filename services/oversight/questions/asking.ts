import { Conflict, Forbidden, Invalid, NotFound, TooMany } from "../../kernel/errors.ts";
import {
  type AccountDirectory,
  type Caller,
  isOverseer,
  type Principal,
  quotaFor,
} from "../../people/identity/mod.ts";
import { accessOf, mayRead, type Projects, type ReadsAnywhere } from "../../work/projects/mod.ts";
import type { Tickets } from "../../work/tickets/mod.ts";
import type { QuestionBook } from "./question_book.ts";
import { folded, MAX_DEADLINE, MIN_DEADLINE, type Party, type Question } from "./question.ts";
import type { NewQuestion } from "./schemas.ts";

/** Most open questions of one asker, and of all together. */
const MAX_OPEN_OF_ASKER = 20;
export const MAX_OPEN = 4000;

/** What a new question is checked against. */
export interface AskingOptions {
  readonly accounts: Pick<AccountDirectory, "find">;
  readonly projects: Projects;
  readonly reads: Pick<ReadsAnywhere, "read">;
  readonly tickets: Pick<Tickets, "resolve">;
  readonly book: QuestionBook;
}

/** A new question, before it has a number. */
export type Draft = Pick<
  Question,
  "asker" | "text" | "choices" | "default" | "deadline" | "to" | "ticket"
>;

/** Checks new questions. */
export class Asking {
  readonly #options: AskingOptions;
  /** Questions on their way to the disk, by the key of their asker. */
  readonly #pending = new Map<string | null, number>();
  #allPending = 0;

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  /**
   * A question as it would be asked now.
   *
   * @throws Forbidden if the caller may not ask; Invalid, NotFound, Conflict
   */
  async draft(request: NewQuestion, { principal }: Caller, now: number): Promise<Draft> {
    if (principal.kind !== "agent" && !isOverseer(principal)) {
      throw new Forbidden("Only agents, admins and the operator ask questions");
    }
    const { text, choices = [] } = request;
    const deadline = deadlineOf(request.deadline, now);
    if (request.default !== undefined && deadline === null) {
      throw new Invalid('"default" is the answer at the deadline: give a "deadline" too');
    }
    const answer = request.default === undefined ? null : choiceOf(choices, request.default);
    if (answer === undefined) throw new Invalid('"default" must be one of "choices"');
    const ticket = await this.#ticketOf(request.ticket, principal);
    return {
      asker: { id: principal.id, name: principal.name },
      text,
      choices,
      default: answer,
      deadline,
      to: this.#receiverOf(request.to, ticket),
      ticket,
    };
  }

  /** An open question that is the same but for its deadline, or null. */
  sameAs(draft: Draft): Question | null {
    for (const question of this.#options.book.all()) {
      if (question.asker.id === draft.asker.id && contentOf(question) === contentOf(draft)) {
        return question;
      }
    }
    return null;
  }

  /**
   * Keeps room for a question while it is written.
   *
   * @returns a function that gives the room back
   * @throws TooMany
   */
  reserve({ principal }: Caller): () => void {
    const { book } = this.#options;
    const key = principal.id;
    const pending = this.#pending.get(key) ?? 0;
    let own = pending;
    for (const { asker } of book.all()) if (asker.id === key) own++;
    if (own >= MAX_OPEN_OF_ASKER) {
      throw new TooMany(
        `You have ${MAX_OPEN_OF_ASKER} open questions: wait for an answer, or withdraw one`,
      );
    }
    if (book.size + this.#allPending >= quotaFor(principal, MAX_OPEN)) {
      throw new TooMany("Too many questions are open on this server");
    }
    this.#pending.set(key, pending + 1);
    this.#allPending++;
    return () => {
      const left = (this.#pending.get(key) ?? 1) - 1;
      if (left === 0) this.#pending.delete(key);
      else this.#pending.set(key, left);
      this.#allPending--;
    };
  }

  async #ticketOf(
    reference: string | undefined,
    principal: Principal,
  ): Promise<Question["ticket"]> {
    if (reference === undefined) return null;
    const [slug = "", id = "", ...rest] = reference.split("/");
    if (slug === "" || id === "" || rest.length > 0) {
      throw new Invalid('"ticket" must be a project and the id of a ticket: demo/1a2b3c4d');
    }
    const held = this.#options.projects.find(slug);
    if (held === null || !accessOf(held, principal).may("read")) {
      throw new NotFound(`There is no project "${slug}", or you may not read it`);
    }
    const { reads, tickets } = this.#options;
    const { uuid } = await tickets.resolve(held.project, id, { reads });
    return { projectId: held.project.id, uuid };
  }

  #receiverOf(name: string | undefined, ticket: Question["ticket"]): Party | null {
    if (name === undefined) return null;
    const account = this.#options.accounts.find(name);
    if (account === null || account.revokedAt !== null) {
      throw new NotFound(`There is no person or admin named "${name}"`);
    }
    if (account.kind === "agent") {
      throw new Conflict(`"${account.name}" is an agent: send it a message`);
    }
    const held = ticket === null ? null : this.#options.projects.get(ticket.projectId);
    if (held !== null && !mayRead(held, account)) {
      throw new Conflict(`"${account.name}" may not read the project "${held.project.slug}"`);
    }
    return { id: account.id, name: account.name };
  }
}

/**
 * The answer as the question's asker wrote it.
 *
 * @returns undefined if it is none of the choices
 */
export function choiceOf(choices: readonly string[], answer: string): string | undefined {
  if (choices.length === 0) return answer;
  return choices.find((choice) => folded(choice) === folded(answer));
}

function deadlineOf(deadline: NewQuestion["deadline"], now: number): number | null {
  if (deadline === undefined) return null;
  if (typeof deadline === "number") return now + deadline * 1000;
  const time = Date.parse(deadline);
  if (time < now + MIN_DEADLINE * 1000 || time > now + MAX_DEADLINE * 1000) {
    throw new Invalid('"deadline" must be between 10 seconds and 30 days from now');
  }
  return time;
}

function contentOf({ text, choices, default: answer, to, ticket }: Draft): string {
  return JSON.stringify([text, choices, answer, to?.id, ticket?.projectId, ticket?.uuid]);
}
