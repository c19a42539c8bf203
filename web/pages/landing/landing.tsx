import type { z } from "zod";
import { listLandings, withdrawLanding } from "../../../services/work/reviews/operations.ts";
import type { landingListSchema } from "../../../services/work/reviews/schemas.ts";
import { DEFINITION_PATH } from "../../../services/work/projects/mod.ts";
import type { JobView } from "../../../services/work/runs/schemas.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { AccountName } from "../../parts/account_name.tsx";
import { readJobs } from "../../parts/check_jobs.ts";
import { lookOfCheck } from "../../parts/runs.tsx";
import { ButtonForm } from "../../parts/form.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { Time } from "../../parts/time.tsx";
import { WorkStatus } from "../../parts/work_badges.tsx";
import { type OpenProject, openProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";

type Landing = z.output<typeof landingListSchema>["landing"][number];

/** What a conflict is, by its kind. */
const CONFLICTS: Readonly<Record<string, string>> = {
  "content": "both sides changed the same lines",
  "binary": "both sides changed this binary file",
  "link": "both sides changed this link",
  "mode": "both sides changed its permissions",
  "deleted-by-us": "the target branch deleted this file",
  "deleted-by-them": "the review deletes this file, which the target branch changed",
  "both-added": "both sides added this file",
  "both-renamed": "both sides moved this file, to different places",
  "same-path": "two files would have this name",
  "file-folder": "it would be a file and a folder",
};

/** The landing queue: what lands next, and why something came back. */
export const page = definePage({
  opens: "anybody",
  show,
  actions: { withdraw },
  json: () => "/api/landing",
});

async function show(visit: Visit): Promise<View> {
  const project = openProject(visit);
  const { landing, page, total_pages } = await visit.invoke(project.slug, listLandings, {
    page: visit.pageNumber,
    per_page: 50,
  });
  const candidates = await Promise.all(
    landing.map(async ({ candidate, ended_at }) =>
      candidate === null || ended_at !== null
        ? NO_JOBS
        : await readJobs(visit, project.slug, candidate)
    ),
  );
  const jobsOf = new Map(landing.map((one, place) => [one, candidates[place] ?? NO_JOBS]));
  const hasRuns = candidates.some(({ size }) => size > 0);
  const queued = landing.filter(({ ended_at }) => ended_at === null);
  const ended = landing.filter(({ ended_at }) => ended_at !== null);
  const body = (
    <>
      <h1>Landing</h1>
      <div data-live-part="landing" data-live-on="landing review status job">
        {queued.length === 0 && visit.pageNumber === 1 && (
          <Empty>
            <p>Nothing waits to land.</p>
            <p>
              Approved <a href={`${project.base}/reviews?list=approved`}>reviews</a>{" "}
              get in line with “Land”.
            </p>
          </Empty>
        )}
        {queued.length > 0 && <Arrival {...{ project, hasRuns }} />}
        {queued.length > 0 && (
          <ol class="list" data-keys="list">
            {queued.map((one) => (
              <Row key={one.review} {...{ visit, project }} landing={one} jobs={jobsOf.get(one)} />
            ))}
          </ol>
        )}
        {ended.length > 0 && (
          <section aria-labelledby="ended">
            <h2 id="ended">Ended</h2>
            <ul class="list" data-keys="list">
              {ended.map((one) => (
                <Row key={one.queued_at} visit={visit} project={project} landing={one} />
              ))}
            </ul>
          </section>
        )}
      </div>
      <Pager visit={visit} page={page} pages={total_pages} />
    </>
  );
  return { title: "Landing", body, project: project.place("landing"), live: project.live };
}

const NO_JOBS: ReadonlyMap<string, JobView> = new Map();

/** How the checks of a candidate come. */
function Arrival({ project: { slug, base }, hasRuns }: {
  readonly project: OpenProject;
  readonly hasRuns: boolean;
}) {
  return (
    <p class="soft small">
      {hasRuns
        ? (
          <>
            Runners of this server test each candidate, as <code>{DEFINITION_PATH}</code>{" "}
            of the target branch says: <a href={`${base}/runs`}>Checks</a>.
          </>
        )
        : (
          <>
            A candidate waits for the checks that the rules of its branch demand. They come from
            {" "}
            <a href={`${base}/runs`}>runners of this server</a>, or from a CI with a token of{" "}
            {slug}.
          </>
        )}
    </p>
  );
}

function Row({ visit, project, landing, jobs = NO_JOBS }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly landing: Landing;
  /** The jobs that test its candidate, by context. */
  readonly jobs?: ReadonlyMap<string, JobView> | undefined;
}) {
  const awaited = landing.status === "testing"
    ? landing.contexts.map((context) => awaitedOf(context, jobs.get(context)))
    : [];
  const { review, title, status, position, reason, conflicts, checks, candidate } = landing;
  return (
    <li>
      <div class="row-title">
        {position !== null && <span class="soft">{position}.</span>}
        <a href={`${project.base}/reviews/${review}`}>{title}</a>
        <WorkStatus status={status} />
        {checks.map(({ context, state }) => (
          <Check {...{ project, context, state }} job={jobs.get(context)} />
        ))}
        {landing.ended_at === null && project.mayWrite && (
          <Withdraw
            visit={visit}
            review={review}
          />
        )}
      </div>
      {reason !== null && <p>{reason}.</p>}
      {awaited.length > 0 && <p class="small">{awaited.join("; ")}.</p>}
      {conflicts.length > 0 && (
        <ul class="plain small soft">
          {conflicts.map(({ path, kind }) => (
            <li>
              <code>{path}</code> {CONFLICTS[kind] ?? kind}
            </li>
          ))}
        </ul>
      )}
      <div class="meta">
        <span class="mono">#{review}</span>
        <span>
          by <AccountName {...{ visit, project }} name={landing.agent_id} /> into{" "}
          <code>{landing.target_branch}</code>
        </span>
        {candidate !== null && (
          <span>
            candidate{" "}
            <a class="mono" href={`${project.base}/checkin/${candidate}`}>
              {candidate.slice(0, 10)}
            </a>
          </span>
        )}
        <span>
          queued by <AccountName {...{ visit, project }} name={landing.queued_by} />{" "}
          <Time at={landing.queued_at} />
        </span>
        {landing.ended_at !== null && (
          <span>
            ended <Time at={landing.ended_at} />
          </span>
        )}
      </div>
    </li>
  );
}

/** What a landing waits for until it has a check. */
function awaitedOf(context: string, job: JobView | undefined): string {
  if (job === undefined) return `${context} waits for a CI that reports it`;
  if (job.waits_for !== null) return `${context} waits for ${job.waits_for}`;
  return job.state === "running" ? `${context} runs on ${job.runner}` : `${context} must pass`;
}

function Check({ project: { base }, context, state, job }: {
  readonly project: OpenProject;
  readonly context: string;
  readonly state: Landing["checks"][number]["state"];
  readonly job: JobView | undefined;
}) {
  const look = `badge ${lookOfCheck(state)}`;
  const words = <>{context}: {job?.state ?? state}</>;
  return job === undefined
    ? <span class={look}>{words}</span>
    : <a class={look} href={`${base}/jobs/${job.id}`}>{words}</a>;
}

function Withdraw({ visit, review }: { readonly visit: Visit; readonly review: number }) {
  return (
    <ButtonForm
      visit={visit}
      action="withdraw"
      values={{ review: String(review) }}
      label={
        <>
          Withdraw<span class="hidden-text">review {review}</span>
        </>
      }
    />
  );
}

async function withdraw(visit: Visit): Promise<Leads> {
  await visit.invoke(visit.param("slug"), withdrawLanding, { id: visit.entered("review") });
  return { to: visit.url.pathname, notice: "The review is out of the landing queue." };
}
