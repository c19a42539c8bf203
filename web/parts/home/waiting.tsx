import type { Child } from "hono/jsx";
import type {
  HeldTicket,
  PendingReview,
  StruckTicket,
  Waiting,
} from "../../../services/oversight/attention/mod.ts";
import type { Need } from "../../../services/people/needs/mod.ts";
import type { Question } from "../../../services/oversight/questions/mod.ts";
import type { Visit } from "../../visit.ts";
import { AnswerForm, QuestionFacts } from "../question.tsx";
import { ButtonForm } from "../form.tsx";
import { Empty } from "../lists.tsx";
import { Time } from "../time.tsx";

/** What waits for the visitor, each with the way to answer it. */
export function WaitingList({ visit, waiting, questions, other }: {
  readonly visit: Visit;
  readonly waiting: Waiting;
  readonly questions: readonly Question[];
  readonly other: readonly Need[];
}) {
  const { reviews, conflicts, struck, silent } = waiting;
  const count = questions.length + reviews.length + conflicts.length + struck.length +
    silent.length + other.length;
  return (
    <section
      aria-labelledby="waiting"
      data-live-part="waiting"
      data-live-on="project.review project.landing project.ticket project.claim project.strikes_forgotten project.member_changed agent.* question.*"
    >
      <h2 id="waiting">
        Who needs me? {count > 0 && <span class="badge accent">{count}</span>}
      </h2>
      {count === 0
        ? (
          <Empty>
            Nothing waits for you. Questions, reviews, conflicts and stuck work appear here.
          </Empty>
        )
        : (
          <ul class="list" data-keys="list">
            {questions.map((question) => (
              <QuestionEntry key={question.id} visit={visit} question={question} />
            ))}
            {other.map((need) => <OtherEntry key={need.id} need={need} />)}
            {reviews.map((entry) => <ReviewEntry key={entry.review.id} entry={entry} />)}
            {conflicts.map(({ slug, landing }) => (
              <Entry
                kind="Conflict"
                look="bad"
                slug={slug}
                to={`/projects/${slug}/reviews/${landing.review}`}
                title={landing.title}
                action={
                  <a class="button" href={`/projects/${slug}/reviews/${landing.review}`}>
                    Look at it
                  </a>
                }
              >
                {landing.author}’s work conflicts with {landing.targetBranch}
                {pathsOf(landing.reason?.conflicts)} · <At time={landing.endedAt} />
              </Entry>
            ))}
            {struck.map((entry) => <StruckEntry key={entry.ticket} visit={visit} entry={entry} />)}
            {silent.map((entry) => <SilentEntry key={entry.ticket} visit={visit} entry={entry} />)}
          </ul>
        )}
      <p class="small">
        <a href="/questions">All questions</a>
      </p>
    </section>
  );
}

/** One thing that waits. */
function Entry({ kind, look, slug, to, title, action, children }: {
  readonly kind: string;
  readonly look: "accent" | "warn" | "bad";
  /** Its project, if any. */
  readonly slug?: string | undefined;
  readonly to: string;
  readonly title: string;
  readonly action?: Child;
  readonly children?: Child;
}) {
  return (
    <li class="waiting-entry">
      <span class={`badge ${look}`}>{kind}</span>
      <div class="waiting-text">
        <a href={to}>{title}</a>
        <div class="soft small">
          {slug !== undefined && (
            <>
              <a class="quiet" href={`/projects/${slug}`}>{slug}</a> ·{" "}
            </>
          )}
          {children}
        </div>
      </div>
      {action !== undefined && <div class="waiting-action">{action}</div>}
    </li>
  );
}

function QuestionEntry({ visit, question }: {
  readonly visit: Visit;
  readonly question: Question;
}) {
  const { id, text } = question;
  const ticket = visit.services.questions.ticketOf(question, visit.principal);
  return (
    <Entry
      kind="Question"
      look="accent"
      slug={ticket?.project.slug}
      to={`/questions/${id}`}
      title={text}
    >
      <QuestionFacts question={question} ticket={ticket} />
      <AnswerForm visit={visit} question={question} isAtHome />
    </Entry>
  );
}

/** What another part of the program contributes. */
function OtherEntry({ need }: { readonly need: Need }) {
  const { kind, link, title, why, project, since } = need;
  return (
    <Entry
      kind={kind[0]?.toUpperCase() + kind.slice(1)}
      look="warn"
      slug={project ?? undefined}
      to={link}
      title={title}
      action={<a class="button" href={link}>Look at it</a>}
    >
      {why} <At time={since} />
    </Entry>
  );
}

function ReviewEntry({ entry: { slug, review, isAsked } }: { readonly entry: PendingReview }) {
  const to = `/projects/${slug}/reviews/${review.number}`;
  const files = review.filesChanged.length;
  return (
    <Entry
      kind="Review"
      look="accent"
      slug={slug}
      to={to}
      title={review.title}
      action={<a class="button" href={to}>Review</a>}
    >
      {isAsked ? `${review.author.name} asks you` : `${review.author.name} asks anybody`}
      {files > 0 && `, ${files} ${files === 1 ? "file" : "files"}`}
      {review.round > 1 && `, round ${review.round}`} · <At time={review.updatedAt} />
    </Entry>
  );
}

function StruckEntry({ visit, entry }: { readonly visit: Visit; readonly entry: StruckTicket }) {
  const { slug, ticket, title, strikes, mayChange } = entry;
  const to = `/projects/${slug}/tickets/${ticket}`;
  return (
    <Entry
      kind="Stuck"
      look="warn"
      slug={slug}
      to={to}
      title={title}
      action={mayChange
        ? (
          <ButtonForm
            visit={visit}
            action="offer"
            values={{ slug, ticket }}
            label="Offer to agents again"
          />
        )
        : <a class="button" href={to}>Look at it</a>}
    >
      {strikes} claims ended without a result
    </Entry>
  );
}

function SilentEntry({ visit, entry }: { readonly visit: Visit; readonly entry: HeldTicket }) {
  const { slug, ticket, title, agent, lastSeen, mayRelease } = entry;
  const to = `/agents/${encodeURIComponent(agent)}`;
  return (
    <Entry
      kind="Silent"
      look="warn"
      slug={slug}
      to={`/projects/${slug}/tickets/${ticket}`}
      title={title}
      action={mayRelease
        ? (
          <ButtonForm
            visit={visit}
            action="release"
            values={{ slug, ticket }}
            label="End the claim"
          />
        )
        : <a class="button" href={to}>Look at {agent}</a>}
    >
      <a class="quiet" href={to}>{agent}</a> holds it and was last seen{" "}
      {lastSeen === null ? "never" : <At time={lastSeen} />}
    </Entry>
  );
}

function At({ time }: { readonly time: number | null }) {
  return time === null ? null : <Time at={new Date(time).toISOString()} />;
}

/** The first paths of a conflict. */
function pathsOf(conflicts: readonly { readonly path: string }[] = []): string {
  const [first] = conflicts;
  if (first === undefined) return "";
  const others = conflicts.length - 1;
  return `: ${first.path}${others === 0 ? "" : ` and ${others} more`}`;
}
