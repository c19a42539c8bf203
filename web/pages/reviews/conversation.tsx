import { AccountName, type NamePlace } from "../../parts/account_name.tsx";
import { Form, TextArea } from "../../parts/form.tsx";
import type { ProjectText } from "../../../services/work/texts/mod.ts";
import { ThreadProse, type ThreadText, threadTexts } from "../../parts/thread_texts.tsx";
import { Time } from "../../parts/time.tsx";
import { withQuery } from "../../visit.ts";
import type { Review, ReviewProps } from "./props.ts";

type Comment = Review["comments"][number];
type Verdict = Review["verdict_history"][number];

/** Entries of one page; the newest ones are on the first page. */
const ENTRIES = 100;

/** The markup of descriptions and comments. */
const MIMETYPE = "text/x-markdown";

/**
 * The description of a review, and what happened to it; with `comment` in the query, one comment
 * alone.
 */
export async function showConversation(props: ReviewProps) {
  const { visit, project, review } = props;
  const isOpen = review.status !== "merged" && review.status !== "closed";
  const alone = visit.query("comment");
  const all = entriesOf(review);
  const entries = alone === undefined
    ? all
    : all.filter(({ comment }) => comment !== undefined && String(comment.id) === alone);
  const start = Math.max(0, entries.length - ENTRIES * visit.pageNumber);
  const end = entries.length - ENTRIES * (visit.pageNumber - 1);
  const shown = entries.slice(start, Math.max(start, end));
  const said = shown.flatMap(({ comment }) => comment === undefined ? [] : [comment]);
  // The newest comments have room first.
  const [description, texts] = await Promise.all([
    threadTexts(visit, project, [{ text: review.description, mimetype: MIMETYPE }]),
    threadTexts(visit, project, said.toReversed().map(textOf)),
  ]);
  const byId = new Map(said.toReversed().map(({ id }, index) => [id, texts[index]]));
  return (
    <>
      <section class="card" aria-label="Description">
        {review.description === ""
          ? <p class="soft">There is no description.</p>
          : <ThreadProse text={description[0]} alone={visit.url.pathname} />}
      </section>
      <div data-live-part="comments" data-live-on="review">
        {alone !== undefined && (
          <p>
            <a href={visit.url.pathname}>All of the conversation</a>
          </p>
        )}
        {start > 0 && (
          <p>
            <a href={withQuery(visit.url.pathname, { page: visit.pageNumber + 1 })}>
              {start} older entries
            </a>
          </p>
        )}
        <ol class="activity">
          {shown.map((entry) => (
            <Entry
              {...{ visit, project, review, entry }}
              text={entry.comment === undefined ? undefined : byId.get(entry.comment.id)}
            />
          ))}
        </ol>
      </div>
      {project.mayWrite && (
        <section
          class="card"
          aria-labelledby="say"
          data-live-part="say"
          data-live-on="review landing"
        >
          <h2 id="say">{isOpen ? "Your verdict" : "Comment"}</h2>
          {isOpen ? <VerdictForm {...props} /> : <CommentForm {...props} />}
        </section>
      )}
    </>
  );
}

/** The text of a comment. */
export function textOf({ body }: Pick<Comment, "body">): ProjectText {
  return { text: body, mimetype: MIMETYPE };
}

/** What happened to a review: a comment, a verdict, one with the other, or the begin of a round. */
interface ReviewEntry {
  /** ISO 8601. */
  readonly at: string;
  readonly comment?: Comment;
  readonly verdict?: Verdict;
  readonly round?: Review["rounds"][number];
}

/** What happened to a review, oldest first. The comment of a verdict is one with it. */
function entriesOf({ comments, verdict_history, rounds }: Review): ReviewEntry[] {
  const verdicts = new Map(verdict_history.map((one) => [keyOf(one.given_at, one), one]));
  const said = comments.map((comment): ReviewEntry => {
    const { author: agent_id, created_at: at, file_path, round } = comment;
    const key = keyOf(at, { agent_id, round });
    const verdict = file_path === "" ? verdicts.get(key) : undefined;
    if (verdict === undefined) return { at, comment };
    verdicts.delete(key);
    return { at, comment, verdict };
  });
  const given = [...verdicts.values()].map((verdict): ReviewEntry => ({
    at: verdict.given_at,
    verdict,
  }));
  const begun = rounds.filter(({ round }) => round > 1)
    .map((round): ReviewEntry => ({ at: round.started_at, round }));
  // A round is as old as its check-in, whose date another machine may have written.
  return [...begun, ...said, ...given].sort((one, other) =>
    roundOf(one) - roundOf(other) ||
    Number(other.round !== undefined) - Number(one.round !== undefined) ||
    (one.at < other.at ? -1 : one.at > other.at ? 1 : 0)
  );
}

/** By what a verdict and its comment are known to be one. */
function keyOf(at: string, { agent_id, round }: Pick<Verdict, "agent_id" | "round">): string {
  return `${at} ${round} ${agent_id}`;
}

function roundOf({ comment, verdict, round }: ReviewEntry): number {
  return round?.round ?? comment?.round ?? verdict?.round ?? 0;
}

function Entry({ visit, project, review, text, entry }: {
  readonly visit: ReviewProps["visit"];
  readonly project: ReviewProps["project"];
  readonly review: Review;
  /** That of its comment. */
  readonly text: ThreadText | undefined;
  readonly entry: ReviewEntry;
}) {
  const { comment, verdict, round } = entry;
  if (comment !== undefined) {
    return (
      <li id={`comment-${comment.id}`}>
        <CommentCard
          visit={visit}
          project={project}
          comment={comment}
          text={text}
          place={verdict === undefined
            ? <Place visit={visit} review={review} comment={comment} />
            : <VerdictBadge verdict={verdict} />}
        />
      </li>
    );
  }
  if (verdict !== undefined) {
    return (
      <li>
        <p class="meta">
          <AccountName {...{ visit, project }} name={verdict.agent_id} />{" "}
          <VerdictBadge verdict={verdict} /> <Time at={verdict.given_at} />
        </p>
      </li>
    );
  }
  return round === undefined ? null : (
    <li>
      <p class="meta">
        <span>
          <AccountName {...{ visit, project }} name={review.agent_id} /> began round {round.round}
          {" "}
          with{" "}
          <a class="mono" href={`${project.base}/checkin/${round.tip}`}>{round.tip.slice(0, 10)}</a>
        </span>
        <Time at={round.started_at} />
        <a
          href={withQuery(visit.url.pathname, {
            view: "changes",
            from: round.round - 1,
            to: round.round,
          })}
        >
          what changed since
        </a>
      </p>
    </li>
  );
}

function VerdictBadge({ verdict: { verdict, round } }: { readonly verdict: Verdict }) {
  return verdict === "approved"
    ? <span class="badge good">approved round {round}</span>
    : <span class="badge warn">requested changes in round {round}</span>;
}

/** A comment of a review. */
export function CommentCard(
  { visit, project, comment, text, place, id }: NamePlace & {
    readonly comment: Pick<Comment, "id" | "author" | "created_at">;
    readonly text: ThreadText | undefined;
    readonly place?: unknown;
    readonly id?: string;
  },
) {
  const { author, created_at } = comment;
  return (
    <article class="card said" id={id} tabindex={id === undefined ? undefined : -1}>
      <header class="meta">
        <AccountName {...{ visit, project }} name={author} /> <Time at={created_at} /> {place}
      </header>
      <ThreadProse text={text} alone={withQuery(visit.url.pathname, { comment: comment.id })} />
    </article>
  );
}

/** The line on which a comment was made. */
function Place({ visit, review, comment }: {
  readonly visit: ReviewProps["visit"];
  readonly review: Review;
  readonly comment: Comment;
}) {
  const { file_path, line_number, current, side, round } = comment;
  if (file_path === "") return null;
  const name = `${file_path}${line_number === null ? "" : `:${line_number}`}`;
  if (review.rounds.length === 0) {
    return (
      <span>
        on <code>{name}</code>
      </span>
    );
  }
  if (current === null) {
    const to = withQuery(visit.url.pathname, { view: "changes", from: 0, to: round });
    return (
      <span>
        on <a class="mono" href={`${to}#comment-${comment.id}`}>{name}</a> of round {round}
        {round < review.round && "; the line has changed since"}
      </span>
    );
  }
  const at = `${side ?? "new"}:${current.line_number}:${current.file_path}`;
  const to = withQuery(visit.url.pathname, { view: "changes", from: 0, at });
  return (
    <span>
      on <a class="mono" href={`${to}#comment-${comment.id}`}>{name}</a>
    </span>
  );
}

/** One text with three endings: a comment, an approval, or requested changes. */
function VerdictForm({ visit, review }: ReviewProps) {
  const isOwn = review.agent_id === visit.principal.name;
  return (
    <Form visit={visit} action="request-changes" class="wide prose-form">
      <input type="hidden" name="round" value={String(review.round)} />
      <TextArea visit={visit} name="comment" label="Comment" rows={5} hint="Markdown" />
      <div class="row">
        {!isOwn && (
          <button class="primary" type="submit" name="action" value="approve">Approve</button>
        )}
        {!isOwn && (
          <button type="submit" name="action" value="request-changes">Request changes</button>
        )}
        <button type="submit" name="action" value="comment">Comment only</button>
      </div>
    </Form>
  );
}

function CommentForm({ visit }: Pick<ReviewProps, "visit">) {
  return (
    <Form visit={visit} action="comment" class="wide prose-form">
      <TextArea visit={visit} name="comment" label="Comment" rows={5} hint="Markdown" required />
      <button type="submit">Comment</button>
    </Form>
  );
}
