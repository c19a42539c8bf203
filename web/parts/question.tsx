import {
  answererOf,
  type Question,
  type QuestionTicket,
} from "../../services/oversight/questions/mod.ts";
import type { Visit } from "../visit.ts";
import { Form } from "./form.tsx";
import { Time } from "./time.tsx";

/** Who asks whom, about what, and until when. */
export function QuestionFacts({ question, ticket }: {
  readonly question: Question;
  readonly ticket: QuestionTicket | null;
}) {
  const { id, asker, to, askedAt, deadline, frozenAt, state } = question;
  const isRunning = state === "open" && deadline !== null;
  return (
    <>
      Question {id}: {asker.name} asks {to === null ? "" : `${to.name} `}
      <Time at={new Date(askedAt).toISOString()} />
      {ticket !== null && (
        <>
          {" "}about the ticket{" "}
          <a class="quiet" href={`/projects/${ticket.project.slug}/tickets/${ticket.uuid}`}>
            {ticket.uuid.slice(0, 10)}
          </a>
        </>
      )}
      {isRunning && frozenAt !== null && " · its deadline stands still"}
      {isRunning && frozenAt === null && (
        <>
          {" "}· ends <Time at={new Date(deadline).toISOString()} />
        </>
      )}
      {isRunning && question.default !== null && <>{" "}with “{question.default}”</>}
    </>
  );
}

/**
 * A button for each choice, or a field for any text.
 *
 * @param isAtHome whether the answer leads back to the home page
 */
export function AnswerForm({ visit, question, isAtHome = false }: {
  readonly visit: Visit;
  readonly question: Question;
  readonly isAtHome?: boolean;
}) {
  const { id, choices } = question;
  const label = `Answer question ${id}`;
  const field = `answer-${id}`;
  return (
    <Form
      visit={visit}
      action="answer"
      to={`/questions/${id}`}
      class="question-answer"
      label={label}
    >
      {isAtHome && <input type="hidden" name="from" value="home" />}
      {choices.map((choice) => <button type="submit" name="answer" value={choice}>{choice}
      </button>)}
      {choices.length === 0 && (
        <>
          <label class="hidden-text" for={field}>Your answer to question {id}</label>
          <input
            id={field}
            name="answer"
            required
            maxlength={2000}
            autocomplete="off"
            placeholder="Your answer"
            value={visit.entered("answer")}
          />
          <button type="submit">Answer</button>
        </>
      )}
    </Form>
  );
}

/** How a question ended. */
export function QuestionEnd({ question }: { readonly question: Question }) {
  const { state, answer, closedBy, closedAt } = question;
  if (state === "open") return <span class="badge accent">open</span>;
  const by = answererOf(closedBy, question.via);
  return (
    <>
      {state === "withdrawn" && <>{by} withdrew it</>}
      {state === "answered" && <>{by} answered</>}
      {state === "expired" && (answer === null ? "Nobody answered" : "Its default counts")}{" "}
      {closedAt !== null && <Time at={new Date(closedAt).toISOString()} />}
      {answer !== null && <blockquote class="question-text">{answer}</blockquote>}
    </>
  );
}
