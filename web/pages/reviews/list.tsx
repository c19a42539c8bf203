import type { z } from "zod";
import { listReviews } from "../../../services/work/reviews/operations.ts";
import type { reviewListSchema } from "../../../services/work/reviews/schemas.ts";
import { definePage, type View } from "../../page.ts";
import { AccountName, type NamePlace } from "../../parts/account_name.tsx";
import { linkWith, Segments } from "../../parts/filters.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { ticketNames } from "../../parts/ticket_links.tsx";
import { Time } from "../../parts/time.tsx";
import { WorkStatus } from "../../parts/work_badges.tsx";
import { type OpenProject, openProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";

type ReviewList = z.output<typeof reviewListSchema>;
type ListQuery = z.input<typeof listReviews.declared.input>;

/** The lists of reviews: the words, and what is asked for. */
const LISTS: Readonly<Record<string, readonly [words: string, query: ListQuery]>> = {
  open: ["Open", { state: "open" }],
  mine: ["Waiting for me", { waiting_for: "me" }],
  own: ["By me", { state: "open", author: "me" }],
  approved: ["Approved", { status: "approved" }],
  closed: ["Closed", { state: "closed" }],
  all: ["All", {}],
};

/** Lists that make sense to a person with an account alone. */
const OWN: ReadonlySet<string> = new Set(["mine", "own"]);

/** The reviews of a project. */
export const page = definePage({ opens: "anybody", show, json: () => "/api/reviews" });

async function show(visit: Visit): Promise<View> {
  const project = openProject(visit);
  const chosen = visit.query("list") ?? "open";
  const [words, query] = LISTS[chosen] ?? LISTS["open"] ?? ["", {}];
  const listed = await visit.invoke(project.slug, listReviews, {
    ...query,
    page: visit.pageNumber,
    per_page: 50,
  });
  const tickets = listed.reviews.map(({ ticket_uuid }) => ticket_uuid);
  const ticketName = await ticketNames(visit, project, tickets);
  const links = Object.entries(LISTS)
    .filter(([name]) => visit.session !== null || !OWN.has(name))
    .map(([name, [label]]) => ({
      to: linkWith(visit, { list: name === "open" ? undefined : name }),
      words: label,
      isCurrent: label === words,
      ...(label === words ? { count: listed.total } : {}),
    }));
  const body = (
    <>
      <h1>Reviews</h1>
      <div class="list-tools">
        <Segments label="List" links={links} />
      </div>
      <div data-live-part="reviews" data-live-on="review">
        {listed.reviews.length === 0
          ? (
            <Empty>
              <p>No review is in this list.</p>
              <p>
                A review begins with a <a href={`${project.base}/workspaces`}>workspace</a>.
              </p>
            </Empty>
          )
          : (
            <ul class="list" data-keys="list">
              {listed.reviews.map((review) => (
                <Row key={review.id} {...{ visit, project, review, ticketName }} />
              ))}
            </ul>
          )}
      </div>
      <Pager visit={visit} page={listed.page} pages={listed.total_pages} />
    </>
  );
  return { title: "Reviews", body, project: project.place("reviews"), live: project.live };
}

function Row({ visit, project, review, ticketName }: NamePlace & {
  readonly ticketName: (ticket: string) => string;
  readonly project: OpenProject;
  readonly review: ReviewList["reviews"][number];
}) {
  const { base } = project;
  const { id, title, status, agent_id, round, comment_count, files_changed, reviewers } = review;
  return (
    <li>
      <div class="row-title">
        <a href={`${base}/reviews/${id}`}>{title === "" ? "(without a title)" : title}</a>
        <WorkStatus status={status} />
      </div>
      <div class="meta">
        <span class="mono">#{id}</span>
        <span>
          by <AccountName {...{ visit, project }} name={agent_id} /> into{" "}
          <code>{review.target_branch}</code>
        </span>
        <span>round {round}</span>
        <span>{files_changed.length} {files_changed.length === 1 ? "file" : "files"}</span>
        {comment_count > 0 && (
          <span>{comment_count} {comment_count === 1 ? "comment" : "comments"}</span>
        )}
        {review.workspace !== null && (
          <span>
            from{" "}
            <a href={`${base}/workspaces/${encodeURIComponent(review.workspace)}`}>
              {review.workspace}
            </a>
          </span>
        )}
        {review.ticket_uuid !== "" && (
          <span>
            for{" "}
            <a href={`${base}/tickets/${review.ticket_uuid}`}>{ticketName(review.ticket_uuid)}</a>
          </span>
        )}
        {reviewers.length > 0 && (
          <span>
            asked: {reviewers.map((name, index) => (
              <>
                {index > 0 && ", "}
                <AccountName {...{ visit, project, name }} />
              </>
            ))}
          </span>
        )}
        <span>
          changed <Time at={review.updated_at} />
        </span>
      </div>
    </li>
  );
}
