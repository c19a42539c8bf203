import { z } from "../extended_zod.ts";
import { Waits } from "../../http/mod.ts";
import type { Identity, Principal } from "../../services/identity/mod.ts";
import { NEED_GROUPS, NEED_KINDS, type Needs } from "../../services/needs/mod.ts";
import {
  ANSWER_WAYS,
  MAX_PAGE,
  type Question,
  QUESTION_STATES,
  type Questions,
} from "../../services/questions/mod.ts";
import { answerSchema, questionSchema } from "../../services/questions/schemas.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { hold } from "../held_answers.ts";
import { route } from "../route.ts";
import { errors, json, jsonRequest, waitSchema, wholeNumber } from "../schemas.ts";

/** Most needs of one page. */
const MAX_NEEDS = 200;
const DEFAULT_NEEDS = 50;

const timeSchema = z.iso.datetime().nullable();

const viewSchema = z.object({
  id: z.int().openapi({ description: "The number that people type", example: 12 }),
  asker: z.string(),
  text: z.string(),
  choices: z.array(z.string()).openapi({ description: "Empty if any text is an answer" }),
  default: z.string().nullable().openapi({ description: "The answer at the deadline" }),
  asked_at: z.iso.datetime(),
  deadline: timeSchema,
  frozen_at: timeSchema.openapi({
    description: "Since when the deadline stands still, because the asker is halted",
  }),
  to: z.string().nullable().openapi({ description: "Who was asked by name" }),
  ticket: z.string().nullable().openapi({ description: "As project/ticket" }),
  state: z.enum(QUESTION_STATES).openapi({
    description:
      "expired: nobody answered until the deadline; `answer` is then the default, if any",
  }),
  answer: z.string().nullable(),
  answered_by: z.string().nullable().openapi({ description: "Also who withdrew it" }),
  via: z.enum(ANSWER_WAYS).nullable().openapi({
    description: "How the answer came; client: from the person at the asker's own MCP client",
  }),
  closed_at: timeSchema,
}).openapi("Question");

const idSchema = z.object({
  id: z.string().regex(/^\d{1,9}$/, { error: "must be the number of a question" })
    .transform(Number).openapi({ type: "integer", minimum: 0, maximum: 999_999_999 }),
});

const ask = route("POST /v1/questions", {
  summary: "Ask a person",
  description: "For agents, admins and the operator. `to` names who is asked; else admins, and " +
    "with a `ticket` those who may write in its project. At the deadline, the default is the " +
    "answer. To ask the same again while it is open changes nothing. The asker finds the end of " +
    "the question in its inbox.",
  request: {
    body: jsonRequest(questionSchema.meta({ id: "QuestionRequest" }), {
      text: "The tests are green. Shall I land it now?",
      choices: ["yes", "no"],
      default: "no",
      deadline: 3600,
    }),
  },
  responses: {
    201: json(viewSchema, "It is on disk, and people are told"),
    200: json(viewSchema, "You have asked this already, and it is open"),
    ...errors(400, 404, 409, 413, 429, 503, 504),
  },
});

const list = route("GET /v1/questions", {
  summary: "List questions, newest first",
  description: "Agents see their own, people those that they may answer, asked or answered; " +
    "admins and the operator all. The newest 10,000 are kept.",
  request: {
    query: z.object({
      state: z.enum(["open", "closed", "all"]).optional().openapi({
        description: "By default, open",
      }),
      before: wholeNumber("Only questions with smaller numbers", 1, 999_999_999),
      limit: wholeNumber("Most questions; by default, 100", 1, MAX_PAGE),
    }),
  },
  responses: { 200: json(z.array(viewSchema), "The questions"), ...errors(400) },
});

const show = route("GET /v1/questions/{id}", {
  summary: "Show a question, and wait for its answer",
  request: { params: idSchema, query: z.object({ wait_seconds: waitSchema }) },
  responses: {
    200: json(viewSchema, "The question, open if nobody answered in time"),
    ...errors(400, 404, 429),
  },
});

const answer = route("POST /v1/questions/{id}/answer", {
  summary: "Answer a question",
  description: "The first answer counts; 409 names who gave it.",
  request: {
    params: idSchema,
    body: jsonRequest(answerSchema.meta({ id: "Answer" }), { answer: "yes" }),
  },
  responses: { 200: json(viewSchema, "Your answer counts"), ...errors(400, 404, 409, 413, 503) },
});

const withdraw = route("DELETE /v1/questions/{id}", {
  summary: "Withdraw a question, as its asker or an admin",
  request: { params: idSchema },
  responses: { 200: json(viewSchema, "It is withdrawn"), ...errors(400, 404, 409, 503) },
});

const needSchema = z.object({
  kind: z.enum(NEED_KINDS),
  id: z.string().openapi({ example: "review/demo/3" }),
  title: z.string(),
  why: z.string(),
  actors: z.array(z.string()).openapi({ description: "The accounts that must act" }),
  group: z.enum(NEED_GROUPS).nullable().openapi({
    description: "Or anybody of this group may act; members: those of the project who may write",
  }),
  yours: z.boolean().openapi({ description: "Whether you are one of those who must act" }),
  since: timeSchema,
  until: timeSchema.openapi({ description: "When it ends by itself" }),
  project: z.string().nullable(),
  link: z.string().openapi({ description: "The path of its web page" }),
}).openapi("Need");

const listNeeds = route("GET /v1/needs", {
  summary: "List what waits for somebody, and for whom",
  description:
    "Questions, reviews, conflicts, tickets that were claimed without a result, agents " +
    "that hold a claim and are silent, and exceeded budgets, as far as you may know of them. What " +
    "waits for you comes first, then the oldest.",
  request: {
    query: z.object({
      limit: wholeNumber(`Most entries; by default, ${DEFAULT_NEEDS}`, 1, MAX_NEEDS),
      offset: wholeNumber("How many entries to skip", 0, 100_000),
    }),
  },
  responses: {
    200: json(
      z.object({
        needs: z.array(needSchema),
        total: z.int(),
        yours: z.int().openapi({ description: "How many of all wait for you" }),
      }).openapi("Needs"),
      "A page of what waits",
    ),
    ...errors(400),
  },
});

export interface QuestionRoutesOptions {
  readonly questions: Questions;
  readonly needs: Needs;
  readonly identity: Pick<Identity, "onEnded">;
}

/** `/v1/questions` and `/v1/needs` */
export function questionRoutes({ questions, needs, identity }: QuestionRoutesOptions) {
  const waits = new Waits();
  identity.onEnded((ended) => waits.abortEnded(ended));
  const viewFor = (reader: Principal) => (question: Question) =>
    questionView(question, questions, reader);

  return newRoutes().openapi(ask, async (context) => {
    const caller = callerOf(context);
    const { question, isNew } = await questions.ask(context.req.valid("json"), caller);
    context.header("Location", `/v1/questions/${question.id}`);
    return context.json(viewFor(caller.principal)(question), isNew ? 201 : 200);
  }).openapi(list, async (context) => {
    const { state = "open", before, limit } = context.req.valid("query");
    const principal = context.get("principal");
    const isOpen = state === "all" ? undefined : state === "open";
    const found = await questions.list(principal, { isOpen, before, limit });
    return context.json(found.map(viewFor(principal)), 200);
  }).openapi(show, (context) => {
    const { id } = context.req.valid("param");
    const { wait_seconds: seconds = 0 } = context.req.valid("query");
    const principal = context.get("principal");
    const view = waits.run(
      principal,
      context.req.raw.signal,
      (end) => questions.wait(id, principal, { seconds, end }),
    ).then(viewFor(principal));
    return hold(context, view);
  }).openapi(answer, async (context) => {
    const { id } = context.req.valid("param");
    const { answer } = context.req.valid("json");
    const caller = callerOf(context);
    const question = await questions.answer(id, answer, caller, "http");
    return context.json(viewFor(caller.principal)(question), 200);
  }).openapi(withdraw, async (context) => {
    const caller = callerOf(context);
    const question = await questions.withdraw(context.req.valid("param").id, caller);
    return context.json(viewFor(caller.principal)(question), 200);
  }).openapi(listNeeds, async (context) => {
    const { limit = DEFAULT_NEEDS, offset = 0 } = context.req.valid("query");
    const page = await needs.list(context.get("principal"), { limit, offset });
    const views = page.needs.map(({ isYours, since, until, actors, ...need }) => ({
      ...need,
      actors: [...actors],
      yours: isYours,
      since: isoOf(since),
      until: isoOf(until),
    }));
    return context.json({ needs: views, total: page.total, yours: page.yours }, 200);
  });
}

/** A question as the API shows it. */
function questionView(question: Question, questions: Questions, reader: Principal) {
  const { asker, askedAt, deadline, frozenAt, to, closedBy, closedAt, choices, ...rest } = question;
  const ticket = questions.ticketOf(question, reader);
  return {
    ...rest,
    choices: [...choices],
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
