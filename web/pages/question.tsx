import { NotFound } from "../../services/kernel/errors.ts";
import type { Question } from "../../services/oversight/questions/mod.ts";
import { answerQuestion, withdrawQuestion } from "../../services/oversight/questions/operations.ts";
import { definePage, type Leads, type View } from "../page.ts";
import { ButtonForm } from "../parts/form.tsx";
import { AnswerForm, QuestionEnd, QuestionFacts } from "../parts/question.tsx";
import type { Visit } from "../visit.ts";

/** One question, to answer or to look up. */
export const page = definePage({
  opens: "session",
  show,
  actions: { answer, withdraw },
  keeps: ["answer"],
  json: (visit) => `/v1/questions/${encodeURIComponent(visit.param("id"))}`,
});

async function show(visit: Visit): Promise<View> {
  const { services: { questions }, principal } = visit;
  const question = await questionOf(visit);
  const { id, text, state } = question;
  const isOpen = state === "open";
  const body = (
    <>
      <p class="soft small">
        <a href="/questions">Questions</a>
      </p>
      <section data-live-part="question" data-live-on="question.* agents.*">
        <h1>Question {id}</h1>
        <p class="question-text">{text}</p>
        <p class="soft small">
          <QuestionFacts question={question} ticket={questions.ticketOf(question, principal)} />
        </p>
        {isOpen && questions.isFor(question, principal)
          ? <AnswerForm visit={visit} question={question} />
          : <QuestionEnd question={question} />}
        {isOpen && visit.isAdmin && (
          <div class="row">
            <ButtonForm visit={visit} action="withdraw" label="Withdraw it unanswered" />
          </div>
        )}
      </section>
    </>
  );
  return { title: `Question ${id}`, body, live: "/live/home" };
}

async function answer(visit: Visit): Promise<Leads> {
  const { id, asker } = await visit.invokeOnServer(answerQuestion, {
    id: visit.param("id"),
    answer: visit.entered("answer").replaceAll("\r\n", "\n"),
  });
  const to = visit.entered("from") === "home" ? "/" : `/questions/${id}`;
  return { to, notice: `${asker} has your answer to question ${id}.` };
}

async function withdraw(visit: Visit): Promise<Leads> {
  const { id } = await visit.invokeOnServer(withdrawQuestion, { id: visit.param("id") });
  return { to: `/questions/${id}`, notice: "The question is withdrawn." };
}

async function questionOf(
  { services: { questions }, context, principal }: Visit,
): Promise<Question> {
  const id = context.req.param("id") ?? "";
  if (!/^\d{1,9}$/.test(id)) throw new NotFound(`There is no question "${id.slice(0, 20)}"`);
  return await questions.get(Number(id), principal);
}
