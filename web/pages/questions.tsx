import { MAX_PAGE, type Question } from "../../services/oversight/questions/mod.ts";
import { definePage, type View } from "../page.ts";
import { Segments } from "../parts/filters.tsx";
import { Empty } from "../parts/lists.tsx";
import { AnswerForm, QuestionEnd, QuestionFacts } from "../parts/question.tsx";
import { type Visit, withQuery } from "../visit.ts";

/** Questions on one page. */
const PER_PAGE = Math.min(50, MAX_PAGE);

/** The open or the closed questions that the visitor may know of, newest first. */
export const page = definePage({ opens: "session", show, json: () => "/v1/questions" });

async function show(visit: Visit): Promise<View> {
  const { services: { questions }, principal, url } = visit;
  const isOpen = url.searchParams.get("state") !== "closed";
  const [, digits] = /^(\d{1,9})$/.exec(url.searchParams.get("before") ?? "") ?? [];
  const before = digits === undefined ? undefined : Number(digits);
  const found = await questions.list(principal, { isOpen, before, limit: PER_PAGE });
  const last = found.length === PER_PAGE ? found.at(-1) : undefined;
  const state = isOpen ? "open" : "closed";
  const links = [
    { to: "/questions", words: "Open", isCurrent: isOpen },
    { to: "/questions?state=closed", words: "Closed", isCurrent: !isOpen },
  ];
  const body = (
    <>
      <h1>Questions</h1>
      <div class="list-tools">
        <Segments label="List" links={links} />
      </div>
      <section aria-label="Questions" data-live-part="questions" data-live-on="question.*">
        {found.length === 0
          ? <Empty>No question is {state}. Agents ask with ask_human or POST /v1/questions.</Empty>
          : (
            <ul class="list" data-keys="list">
              {found.map((question) => <Row visit={visit} question={question} />)}
            </ul>
          )}
      </section>
      {last !== undefined && (
        <nav class="pager" aria-label="Pages">
          <span />
          <a href={withQuery("/questions", { state, before: last.id })} rel="next">Older</a>
        </nav>
      )}
    </>
  );
  return { title: "Questions", body, live: "/live/home" };
}

function Row({ visit, question }: { readonly visit: Visit; readonly question: Question }) {
  const { services: { questions }, principal } = visit;
  const { id, text, state } = question;
  const mayAnswer = state === "open" && questions.isFor(question, principal);
  return (
    <li>
      <a class="question-text" href={`/questions/${id}`}>{text}</a>
      <div class="soft small">
        <QuestionFacts question={question} ticket={questions.ticketOf(question, principal)} />
      </div>
      {mayAnswer
        ? <AnswerForm visit={visit} question={question} />
        : <QuestionEnd question={question} />}
    </li>
  );
}
