import type { Child } from "hono/jsx";
import { cancelRun, getRun, rerunRun } from "../../../services/work/runs/operations.ts";
import { DEFINITION_PATH } from "../../../services/work/projects/mod.ts";
import type { JobView, RunView } from "../../../services/work/runs/schemas.ts";
import { CodeProject } from "../../code_project.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { CheckinLink } from "../../parts/files.tsx";
import { ButtonForm } from "../../parts/form.tsx";
import { JOB_ACTIONS } from "../../parts/run_actions.ts";
import { Bars, Cause, isOpen, JobButtons, RunState, Took, Why } from "../../parts/runs.tsx";
import { Time } from "../../parts/time.tsx";
import type { Visit } from "../../visit.ts";

/** A run: what began it, and its jobs. */
export const page = definePage({
  opens: "anybody",
  show,
  actions: { "cancel-run": cancel, "rerun-run": rerun, ...JOB_ACTIONS },
  json: (visit) => `/api/runs/${encodeURIComponent(visit.param("run"))}`,
});

async function show(visit: Visit): Promise<View> {
  const project = new CodeProject(visit);
  const run = await project.invoke(getRun, { run: visit.param("run") });
  const { runFigures } = visit.services.hosting;
  const lasts = await Promise.all(
    run.jobs.map(({ check }) => runFigures.lastSeconds(project.access.project, check)),
  );
  const body = (
    <div data-live-part="run" data-live-on="job status">
      <Head {...{ project, run }} />
      {run.fault !== null && <Fault {...{ project, run, fault: run.fault }} />}
      <Notices {...{ project, run }} />
      {run.jobs.length > 0 && (
        <ul class="list" data-keys="list">
          {run.jobs.map((job, place) => <Job {...{ project, job }} last={lasts[place] ?? []} />)}
        </ul>
      )}
      <Earlier {...{ project }} jobs={run.earlier} />
    </div>
  );
  return {
    title: `Run ${run.id}`,
    body,
    project: project.place("runs"),
    live: project.open.live,
  };
}

interface RunProps {
  readonly project: CodeProject;
  readonly run: RunView;
}

function Head({ project, run }: RunProps) {
  const { created_at, ended_at, checkin, defined_by, trusted, cause } = run;
  const took = ended_at === null ? null : (Date.parse(ended_at) - Date.parse(created_at)) / 1000;
  return (
    <>
      <div class="page-head">
        <h1>
          <a class="quiet" href={project.to.at("/runs")}>Checks</a> · run {run.id}{" "}
          <RunState state={run.state} />
        </h1>
        <RunButtons {...{ project, run }} />
      </div>
      <div class="meta run-meta">
        <Cause run={run} to={project.to} />
        <span>
          tests <CheckinLink to={project.to} uuid={checkin} />
        </span>
        {defined_by !== checkin && (
          <span>
            as <a href={project.to.file(defined_by, DEFINITION_PATH)}>{run.branch}</a> defines
          </span>
        )}
        <span>
          began <Time at={created_at} />
        </span>
        {took !== null && <Took job={{ seconds: took, state: "success" }} />}
        {!trusted && cause !== "review" && cause !== "landing" && (
          <span>without secrets: {run.branch} is not protected</span>
        )}
      </div>
    </>
  );
}

function RunButtons({ project: { visit, open: { mayWrite } }, run: { jobs } }: RunProps) {
  if (!mayWrite || jobs.length === 0) return null;
  if (jobs.some((job) => isOpen(job))) {
    return <ButtonForm visit={visit} action="cancel-run" label="Cancel" look="danger" />;
  }
  return jobs.every(({ state }) => state === "success")
    ? null
    : <ButtonForm visit={visit} action="rerun-run" label="Run again what has not passed" />;
}

/** A place in a file, with which a line of a fault begins. */
const PLACE = /^([^\s:]+):(\d+)(?::\d+)?: (.+)$/;

/** What is wrong with a definition, each with a link to its line. */
function Fault({ project, run, fault }: RunProps & { readonly fault: string }) {
  return (
    <div class="notice bad" role="alert">
      <p>
        <b>The definition of the checks is not right:</b>
      </p>
      <ul>
        {fault.split("\n").map((line) => {
          const [, file = "", number = "", words = line] = PLACE.exec(line) ?? [];
          return (
            <li>
              {file !== "" && <At {...{ project, run, file, line: number }} />} {words}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function At({ project, run, file, line }: RunProps & {
  readonly file: string;
  readonly line: number | string;
}) {
  return (
    <a href={`${project.to.file(run.checkin, file)}#L${line}`}>
      <code>{file}:{line}</code>
    </a>
  );
}

/** What a workflow has that muster does not do. */
function Notices({ project, run }: RunProps) {
  if (run.notices.length === 0) return null;
  return (
    <div class="notice warn">
      <p>
        <b>muster leaves out a part of the workflows:</b>
      </p>
      <ul>
        {run.notices.map(({ file, line, what, why }) => (
          <li>
            <At {...{ project, run, file, line }} /> <code>{what}</code>: {why}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Job({ project, job, last }: {
  readonly project: CodeProject;
  readonly job: JobView;
  readonly last: readonly number[];
}) {
  const why: Child = Why({ job });
  return (
    <li class="job">
      <div>
        <div class="row-title">
          <a href={project.to.at(`/jobs/${job.id}`)}>{job.check}</a>
          <RunState state={job.state} />
          {!job.counts && <span class="badge">does not count</span>}
        </div>
        {why !== null && <p class="small">{why}</p>}
        <div class="meta">
          {job.seconds !== null && <Bars seconds={job.seconds} last={last} />}
          <Took job={job} />
          {job.runner !== null && <span>on {job.runner}</span>}
          {job.needs.length > 0 && <span>after {job.needs.join(", ")}</span>}
          {job.attempt > 1 && <span>attempt {job.attempt}</span>}
        </div>
      </div>
      <JobButtons visit={project.visit} project={project.open} job={job} />
    </li>
  );
}

function Earlier({ project, jobs }: {
  readonly project: CodeProject;
  readonly jobs: readonly JobView[];
}) {
  if (jobs.length === 0) return null;
  return (
    <details class="more">
      <summary>Earlier attempts</summary>
      <ul class="plain">
        {jobs.map((job) => (
          <li>
            <a href={project.to.at(`/jobs/${job.id}`)}>{job.check}, attempt {job.attempt}</a>{" "}
            <RunState state={job.state} />
          </li>
        ))}
      </ul>
    </details>
  );
}

async function cancel(visit: Visit): Promise<Leads> {
  await visit.invoke(visit.param("slug"), cancelRun, { run: visit.param("run") });
  return { to: visit.url.pathname, notice: "The run is cancelled." };
}

async function rerun(visit: Visit): Promise<Leads> {
  await visit.invoke(visit.param("slug"), rerunRun, { run: visit.param("run") });
  return { to: visit.url.pathname, notice: "What has not passed runs again." };
}
