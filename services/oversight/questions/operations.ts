import { z } from "zod";
import { Conflict, NotFound, TimedOut, TooMany } from "../../kernel/errors.ts";
import type { Principal } from "../../people/identity/mod.ts";
import { Created, serverOperation, WithHeaders } from "../../people/identity/server_operation.ts";
import { numberWithin, waitSchema, wholeNumber } from "../../kernel/validation/schemas.ts";
import { ANSWER_WAYS, MAX_PAGE, type Question, QUESTION_STATES, type Questions } from "./mod.ts";
import { answerSchema, questionSchema } from "./schemas.ts";

/** What the operations on questions to people call. */
interface QuestionServices {
  readonly questions: Questions;
}

const timeSchema = z.iso.datetime().nullable();

const viewSchema = z.object({
  id: z.int().meta({ description: "The number that people type", example: 12 }),
  asker: z.string(),
  text: z.string(),
  choices: z.array(z.string()).readonly().meta({ description: "Empty if any text is an answer" }),
  default: z.string().nullable().meta({ description: "The answer at the deadline" }),
  asked_at: z.iso.datetime(),
  deadline: timeSchema,
  frozen_at: timeSchema.meta({
    description: "Since when the deadline stands still, because the asker is halted",
  }),
  to: z.string().nullable().meta({ description: "Who was asked by name" }),
  ticket: z.string().nullable().meta({ description: "As project/ticket" }),
  state: z.enum(QUESTION_STATES).meta({
    description:
      "expired: nobody answered until the deadline; `answer` is then the default, if any",
  }),
  answer: z.string().nullable(),
  answered_by: z.string().nullable().meta({ description: "Also who withdrew it" }),
  via: z.enum(ANSWER_WAYS).nullable().meta({
    description: "How the answer came; client: from the person at the asker's own MCP client",
  }),
  closed_at: timeSchema,
}).meta({ id: "Question" });

/** The largest number of a question that a URL can have. */
const MAX_NUMBER = 999_999_999;

const byNumber = z.object({
  id: numberWithin(0, MAX_NUMBER, "must be the number of a question")
    .meta({ type: "integer", minimum: 0, maximum: MAX_NUMBER }),
});

const unknown = { error: NotFound };
const contradicts = { error: Conflict };

export const askQuestion = serverOperation({
  http: "POST /v1/questions",
  on: "questions",
  summary: "Ask a person",
  description: "For agents, admins and the operator. `to` names who is asked; else admins, and " +
    "with a `ticket` those who may write in its project. At the deadline, the default is the " +
    "answer. To ask the same again while it is open changes nothing. The asker finds the end of " +
    "the question in its inbox.",
  input: questionSchema,
  bodyName: "QuestionRequest",
  example: {
    text: "The tests are green. Shall I land it now?",
    choices: ["yes", "no"],
    default: "no",
    deadline: 3600,
  },
  ok: { schema: viewSchema, description: "You have asked this already, and it is open" },
  created: { schema: viewSchema, description: "It is on disk, and people are told" },
  refusals: [unknown, contradicts, { error: TooMany }, { error: TimedOut }],
}, async (services: QuestionServices, request, { caller }) => {
  const { question, isNew } = await services.questions.ask(request, caller);
  const view = viewOf(services, question, caller.principal);
  const headers = { Location: `/v1/questions/${question.id}` };
  return new WithHeaders(isNew ? new Created(view) : view, headers);
});

export const listQuestions = serverOperation({
  http: "GET /v1/questions",
  on: "questions",
  summary: "List questions, newest first",
  description: "Agents see their own, people those that they may answer, asked or answered; " +
    "admins and the operator all. The newest 10,000 are kept.",
  input: z.object({
    state: z.enum(["open", "closed", "all"]).optional().meta({ description: "By default, open" }),
    before: wholeNumber("Only questions with smaller numbers", 1, 999_999_999),
    limit: wholeNumber("Most questions; by default, 100", 1, MAX_PAGE),
  }),
  ok: { schema: z.array(viewSchema), description: "The questions" },
}, async (services: QuestionServices, asked, { caller: { principal } }) => {
  const { state = "open", before, limit } = asked;
  const isOpen = state === "all" ? undefined : state === "open";
  const found = await services.questions.list(principal, { isOpen, before, limit });
  return found.map((question) => viewOf(services, question, principal));
});

export const getQuestion = serverOperation({
  http: "GET /v1/questions/{id}",
  on: "questions",
  waits: "if asked",
  summary: "Show a question, and wait for its answer",
  input: byNumber.extend({ wait_seconds: waitSchema }),
  ok: { schema: viewSchema, description: "The question, open if nobody answered in time" },
  refusals: [unknown, { error: TooMany }],
}, async (services: QuestionServices, asked, { caller: { principal }, end }) => {
  const { id, wait_seconds: seconds = 0 } = asked;
  const question = await services.questions.wait(id, principal, { seconds, end });
  return viewOf(services, question, principal);
});

export const answerQuestion = serverOperation({
  http: "POST /v1/questions/{id}/answer",
  on: "questions",
  summary: "Answer a question",
  description: "The first answer counts; 409 names who gave it.",
  input: byNumber.extend(answerSchema.shape),
  bodyName: "Answer",
  example: { answer: "yes" },
  ok: { schema: viewSchema, description: "Your answer counts" },
  refusals: [unknown, contradicts],
  cli: {
    at: "question answer <id> <answer...>",
    about: "answer a question; the first answer counts",
    says: "{answer}",
    examples: [{ line: "question answer 12 yes", purpose: "Answer a question of an agent" }],
  },
}, async (services: QuestionServices, { id, answer }, { caller, via }) => {
  const { questions } = services;
  const question = via === "elicitation"
    ? await questions.answerByUser(id, answer, caller)
    : await questions.answer(
      id,
      answer,
      caller,
      via ?? (caller.principal.sessionId === null ? "http" : "web"),
    );
  return viewOf(services, question, caller.principal);
});

export const withdrawQuestion = serverOperation(
  {
    http: "DELETE /v1/questions/{id}",
    on: "questions",
    summary: "Withdraw a question, as its asker or an admin",
    input: byNumber,
    ok: { schema: viewSchema, description: "It is withdrawn" },
    refusals: [unknown, contradicts],
    cli: {
      at: "question withdraw <id>",
      about: "end a question without an answer",
      says: "Question {id} is {state}",
    },
  },
  async (services: QuestionServices, { id }, { caller }) =>
    viewOf(services, await services.questions.withdraw(id, caller), caller.principal),
);

/** A question as the API shows it. */
function viewOf({ questions }: QuestionServices, question: Question, reader: Principal) {
  const { asker, askedAt, deadline, frozenAt, to, closedBy, closedAt, ...rest } = question;
  const ticket = questions.ticketOf(question, reader);
  return {
    ...rest,
    asker: asker.name,
    asked_at: new Date(askedAt).toISOString(),
    deadline: isoOf(deadline),
    frozen_at: isoOf(frozenAt),
    to: to?.name ?? null,
    ticket: ticket === null ? null : `${ticket.project.slug}/${ticket.uuid}`,
    answered_by: closedBy?.name ?? null,
    closed_at: isoOf(closedAt),
  };
}

function isoOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
