import { Search } from "lucide-static";
import { getJob, getJobLog, rerunJob } from "../../../services/work/runs/operations.ts";
import type { JobView } from "../../../services/work/runs/schemas.ts";
import type { NumberedLine } from "../../../services/work/runs/mod.ts";
import { encodePath } from "../../addresses.ts";
import { CodeProject } from "../../code_project.ts";
import { plainOf } from "../../elements/log_lines.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { sizeOf } from "../../parts/code.tsx";
import { CheckinLink } from "../../parts/files.tsx";
import { Icon } from "../../parts/icon.tsx";
import { fitting, LINES_OF_PAGE, LogLines } from "../../parts/job_log.tsx";
import { JOB_ACTIONS } from "../../parts/run_actions.ts";
import { Bars, isOpen, JobButtons, RunState, Took, Why } from "../../parts/runs.tsx";
import { Time } from "../../parts/time.tsx";
import { type Visit, withQuery } from "../../visit.ts";
import { numberIn } from "../code/file.tsx";

/** A job: how it stands, its log and what it kept. */
export const page = definePage({
  opens: "anybody",
  show,
  actions: { ...JOB_ACTIONS, "rerun-job": rerun },
  json: (visit) => `/api/jobs/${encodeURIComponent(visit.param("id"))}`,
});

/** So many steps are not folded. */
const OPEN_STEPS = 8;

/** Lines before one that a link names. */
const BEFORE = 20;

async function show(visit: Visit): Promise<View | Response> {
  const project = new CodeProject(visit);
  const job = await project.invoke(getJob, { job: visit.param("id") });
  const line = numberIn(visit, "line");
  if (line > 0) {
    const from = Math.max(1, line - BEFORE);
    const to = withQuery(visit.url.pathname, { from, lease: visit.query("lease") });
    return visit.context.redirect(`${to}#L${line}`, 303);
  }
  const search = visit.query("q");
  const body = (
    <>
      <div data-live-part="job" data-live-on="job status">
        <Head {...{ project, job }} />
      </div>
      <Tools {...{ project, job }} />
      {search === undefined ? await Log({ project, job }) : await Found({ project, job, search })}
      <div data-live-part="artifacts" data-live-on="job">
        <Artifacts {...{ project, job }} />
      </div>
    </>
  );
  return {
    title: `${job.check} · run ${job.run}`,
    body,
    project: project.place("runs"),
    live: project.open.live,
  };
}

type Job = Awaited<ReturnType<typeof readJob>>;

/** Gives the answer of the operation its type. */
function readJob(project: CodeProject, job: string) {
  return project.invoke(getJob, { job });
}

interface JobProps {
  readonly project: CodeProject;
  readonly job: Job;
}

function Head({ project, job }: JobProps) {
  const why = Why({ job });
  return (
    <>
      <div class="page-head">
        <h1>
          <a class="quiet" href={project.to.at(`/runs/${job.run}`)}>Run {job.run}</a> · {job.check}
          {" "}
          <RunState state={job.state} />
        </h1>
        <JobButtons visit={project.visit} project={project.open} job={job} />
      </div>
      <div class="meta run-meta" data-lease={job.generation}>
        <span>
          tests <CheckinLink to={project.to} uuid={job.checkin} />
        </span>
        {job.runner !== null && <span>on {job.runner}</span>}
        {job.started_at !== null && (
          <span>
            began <Time at={job.started_at} />
          </span>
        )}
        <Took job={job} />
        {job.seconds !== null && <Bars seconds={job.seconds} last={job.last_seconds} />}
        {job.attempt > 1 && <span>attempt {job.attempt}</span>}
        {!job.counts && <span class="badge">does not count</span>}
      </div>
      {why !== null && (
        <div class={`notice ${isRed(job) ? "bad" : ""}`}>
          <p>{why}</p>
        </div>
      )}
      <EarlierLeases {...{ project, job }} />
      <Steps {...{ project, job }} />
    </>
  );
}

function isRed({ state }: JobView): boolean {
  return state === "failure" || state === "error";
}

/** The steps of a workflow's job, each with a link to its first line. */
function Steps({ project: { visit }, job: { steps } }: JobProps) {
  if (steps.length === 0) return null;
  return (
    <details class="more" open={steps.length <= OPEN_STEPS}>
      <summary>Steps</summary>
      <ol class="plain">
        {steps.map(({ name, result, line, lines }) => (
          <li>
            {result !== null && <RunState state={result} />}{" "}
            {lines > 0 ? <a href={withQuery(visit.url.pathname, { line })}>{name}</a> : name}
          </li>
        ))}
      </ol>
    </details>
  );
}

/** The logs of runners that were lost. */
function EarlierLeases({ project: { visit }, job: { generation } }: JobProps) {
  if (generation < 2) return null;
  return (
    <p class="small soft">
      Runners were lost. Their logs: {Array.from({ length: generation - 1 }, (_, place) => (
        <>
          {place > 0 && ", "}
          <a href={withQuery(visit.url.pathname, { lease: place + 1 })}>{place + 1}</a>
        </>
      ))}.
    </p>
  );
}

function Tools({ project: { visit, to }, job }: JobProps) {
  if (job.log_lines === 0) return null;
  const raw = withQuery(`${to.repository}/api/jobs/${job.id}/log/raw`, {
    generation: visit.query("lease"),
  });
  return (
    <div class="list-tools">
      <form method="get" action={visit.url.pathname} class="list-filters" role="search">
        <label class="search-filter">
          <span class="hidden-text">Search the log</span>
          <Icon svg={Search} />
          <input
            type="search"
            name="q"
            value={visit.query("q") ?? ""}
            placeholder="Search the log"
            maxlength={200}
          />
        </label>
        <button type="submit">Search</button>
      </form>
      <a href={raw}>Raw</a>
      <span class="soft small">{job.log_lines.toLocaleString("en")} lines</span>
    </div>
  );
}

/** The part of the log that the query asks for; by default, its end. */
async function Log({ project, job }: JobProps) {
  const { visit } = project;
  const [from, before, lease] = [
    numberIn(visit, "from"),
    numberIn(visit, "before"),
    leaseOf(visit),
  ];
  const start = Math.max(1, before - LINES_OF_PAGE);
  const asked = before > 0
    ? { from: start, count: Math.max(1, before - start) }
    : from > 0
    ? { from, count: LINES_OF_PAGE }
    : { tail: LINES_OF_PAGE };
  const log = await project.invoke(getJobLog, { job: job.id, ...asked, generation: lease });
  const lines = fitting(log.lines, from === 0);
  const [first, last] = [lines[0]?.number ?? 1, lines.at(-1)?.number ?? 0];
  if (lines.length === 0 && !isOpen(job)) return <p class="soft">The job printed nothing.</p>;
  const isAtEnd = last >= log.total;
  const follows = job.state === "running" && isAtEnd && lease === undefined;
  const at = (query: { readonly before?: number; readonly from?: number }) =>
    withQuery(visit.url.pathname, { ...query, lease });
  return (
    <div
      class="log"
      tabindex={0}
      role="region"
      aria-label={`Log of ${job.check}`}
      data-log
      data-lines
      data-lease={job.generation}
      data-live={follows ? `/live/projects/${project.slug}/jobs/${job.id}` : undefined}
    >
      <div class="log-body">
        {first > 1 && <a class="earlier" href={at({ before: first })}>Earlier lines</a>}
        <LogLines lines={lines} />
        {!isAtEnd && <a class="later" href={at({ from: last + 1 })}>Later lines</a>}
      </div>
    </div>
  );
}

/** The lease whose log is shown; undefined for the newest. */
function leaseOf(visit: Visit): number | undefined {
  return numberIn(visit, "lease") || undefined;
}

/** Lines that a search shows. */
const MAX_FOUND = 200;

/** The lines that have a text, each with a link to its place. */
async function Found({ project, job, search }: JobProps & { readonly search: string }) {
  const { visit } = project;
  const { lines } = await project.invoke(getJobLog, {
    job: job.id,
    search,
    generation: leaseOf(visit),
  });
  const shown = fitting(lines.slice(0, MAX_FOUND), false);
  const count = lines.length.toLocaleString("en");
  return (
    <section aria-labelledby="found">
      <div class="page-head">
        <h2 id="found">
          {lines.length === 0
            ? `No line has “${search}”`
            : `${
              lines.length >= 1000
                ? `${count} lines or more have`
                : lines.length === 1
                ? "1 line has"
                : `${count} lines have`
            } “${search}”`}
        </h2>
        <a href={visit.url.pathname}>Whole log</a>
      </div>
      {shown.length > 0 && (
        <div class="code-scroll" tabindex={0} role="region" aria-label="Lines that were found">
          <table class="code-lines">
            <tbody>
              {shown.map((line) => <FoundLine {...{ visit, line, search }} />)}
            </tbody>
          </table>
        </div>
      )}
      {shown.length < lines.length && (
        <p class="soft small">These are the first {shown.length.toLocaleString("en")}.</p>
      )}
    </section>
  );
}

/** Characters of a found line that are shown before what was found, and all in all. */
const [LEAD, MOST] = [80, 400];

function FoundLine({ visit, line: { number, text }, search }: {
  readonly visit: Visit;
  readonly line: NumberedLine;
  readonly search: string;
}) {
  const plain = plainOf(text);
  const at = plain.indexOf(search);
  const start = Math.max(0, at - LEAD);
  const part = plain.slice(start, start + MOST);
  const place = at - start;
  const href = withQuery(visit.url.pathname, { line: number, lease: visit.query("lease") });
  return (
    <tr>
      <td class="num">
        <a href={href} data-n={number} aria-label={`Line ${number}`}></a>
      </td>
      <td class="code">
        {start > 0 && "… "}
        {at < 0 ? part : (
          <>
            {part.slice(0, place)}
            <mark>{search}</mark>
            {part.slice(place + search.length)}
          </>
        )}
      </td>
    </tr>
  );
}

function Artifacts({ project: { to }, job: { id, artifacts } }: JobProps) {
  if (artifacts.length === 0) return null;
  return (
    <section aria-labelledby="artifacts">
      <h2 id="artifacts">Artifacts</h2>
      <ul class="list">
        {artifacts.map(({ path, bytes }) => (
          <li class="row spread">
            <a href={`${to.repository}/api/jobs/${id}/artifacts/${encodePath(path)}`} download>
              {path}
            </a>
            <span class="soft small">{sizeOf(bytes)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Runs the job again, and leads to its new attempt. */
async function rerun(visit: Visit): Promise<Leads> {
  const slug = visit.param("slug");
  const before = await visit.invoke(slug, getJob, { job: visit.entered("job") });
  const { jobs } = await visit.invoke(slug, rerunJob, { job: before.id });
  const again = jobs.find(({ check }) => check === before.check) ?? before;
  return { to: `/projects/${slug}/jobs/${again.id}`, notice: "It runs again." };
}
