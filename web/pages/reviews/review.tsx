import { getCheckinStatus } from "../../../services/work/checks/operations.ts";
import { getReview, listLandings } from "../../../services/work/reviews/operations.ts";
import { definePage, type View } from "../../page.ts";
import { readJobsWithLogs } from "../../parts/check_jobs.ts";
import { JOB_ACTIONS } from "../../parts/run_actions.ts";
import { AccountName } from "../../parts/account_name.tsx";
import { Segments } from "../../parts/filters.tsx";
import { ticketNames } from "../../parts/ticket_links.tsx";
import { Time } from "../../parts/time.tsx";
import { WorkStatus } from "../../parts/work_badges.tsx";
import { openProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import {
  approve,
  ask,
  close,
  comment,
  drop,
  land,
  merge,
  requestChanges,
  withdraw,
} from "./actions.ts";
import { showChanges } from "./changes.tsx";
import { showConversation } from "./conversation.tsx";
import { NextStep } from "./next_step.tsx";
import { Sidebar } from "./sidebar.tsx";
import type { Landing, ReviewProps } from "./props.ts";

/** Landings among which that of the review is looked for. */
const LANDINGS = 100;

const CLOSED: ReadonlySet<string> = new Set(["merged", "closed"]);

/** A review: its rounds, the changes with the comments on their lines, and its verdicts. */
export const page = definePage({
  opens: "anybody",
  show,
  actions: {
    comment,
    approve,
    "request-changes": requestChanges,
    close,
    merge,
    land,
    withdraw,
    ask,
    drop,
    ...JOB_ACTIONS,
  },
  keeps: ["comment", "approve", "request-changes"],
  json: (visit) => `/api/reviews/${encodeURIComponent(visit.param("id"))}`,
});

async function show(visit: Visit): Promise<View> {
  const project = openProject(visit);
  const { slug } = project;
  const review = await visit.invoke(slug, getReview, { id: visit.param("id"), diff: "false" });
  const isChanges = visit.query("view") === "changes";
  const [ticketName, landing, checks, jobs] = await Promise.all([
    ticketNames(visit, project, [review.ticket_uuid]),
    CLOSED.has(review.status) ? null : readLanding(visit, slug, review.id),
    review.tip === null
      ? []
      : visit.invoke(slug, getCheckinStatus, { checkin: review.tip }).then((it) => it.checks),
    review.tip === null ? new Map() : readJobsWithLogs(visit, slug, review.tip),
  ]);
  const props = { visit, project, review, landing, checks, jobs };
  const content = isChanges ? await showChanges(props) : await showConversation(props);
  const body = (
    <>
      <Head {...props} {...{ isChanges, ticketName }} />
      <NextStep {...props} />
      {isChanges ? content : (
        <div class="columns">
          <div>{content}</div>
          <Sidebar {...props} />
        </div>
      )}
    </>
  );
  const title = `${review.title} · review ${review.id}`;
  return { title, body, project: project.place("reviews"), live: project.live };
}

async function readLanding(visit: Visit, slug: string, id: number): Promise<Landing | null> {
  const { landing } = await visit.invoke(slug, listLandings, { per_page: LANDINGS });
  return landing.find(({ review }) => review === id) ?? null;
}

function Head({ visit, project, review, isChanges, ticketName }: ReviewProps & {
  readonly ticketName: (ticket: string) => string;
  readonly isChanges: boolean;
}) {
  const { base, mayWrite } = project;
  const { pathname } = visit.url;
  const { ticket_uuid: ticket, comments, files_changed } = review;
  return (
    <>
      <h1>
        {review.title === "" ? "(without a title)" : review.title}{" "}
        <span class="soft">#{review.id}</span>
      </h1>
      <div class="meta ticket-head" data-live-part="head" data-live-on="review landing">
        <WorkStatus status={review.status} />
        <Aim {...{ visit, project, review }} />
        {ticket !== "" && (
          <span>
            {CLOSED.has(review.status) ? "for" : "resolves"}{" "}
            <a href={`${base}/tickets/${ticket}`}>{ticketName(ticket)}</a>
          </span>
        )}
        <span>
          opened <Time at={review.created_at} />
        </span>
        {review.merged_as !== null && (
          <span>
            merged as{" "}
            <a class="mono" href={`${base}/checkin/${review.merged_as}`}>
              {review.merged_as.slice(0, 10)}
            </a>
          </span>
        )}
      </div>
      <div class="list-tools">
        <Segments
          label="View"
          links={[
            { to: pathname, words: "Conversation", count: comments.length, isCurrent: !isChanges },
            {
              to: `${pathname}?view=changes`,
              words: "Changes",
              count: files_changed.length,
              isCurrent: isChanges,
            },
          ]}
        />
        <span data-live-part="verdict" data-live-on="review landing">
          {isChanges && mayWrite && !CLOSED.has(review.status) && (
            <a class="button primary" href={`${pathname}#say`}>Give a verdict</a>
          )}
        </span>
      </div>
    </>
  );
}

/** What the author wants to merge, or what became of it. */
function Aim({ visit, project, review }: Pick<ReviewProps, "visit" | "project" | "review">) {
  const { agent_id, status, target_branch, workspace } = review;
  const author = <AccountName {...{ visit, project }} name={agent_id} />;
  const target = <code>{target_branch}</code>;
  const work = workspace === null
    ? "a diff"
    : <a href={`${project.base}/workspaces/${encodeURIComponent(workspace)}`}>{workspace}</a>;
  return status === "merged"
    ? <span>{work} by {author} was merged into {target}</span>
    : <span>{author} {status === "closed" ? "wanted" : "wants"} to merge {work} into {target}
    </span>;
}
