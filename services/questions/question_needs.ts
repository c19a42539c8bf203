import type { Principal } from "../identity/mod.ts";
import { MAX_NEEDS_OF_SOURCE, type Need, type NeedSource } from "../needs/mod.ts";
import type { Question } from "./question.ts";
import type { Questions } from "./questions.ts";
import { lineOf } from "./words.ts";

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
