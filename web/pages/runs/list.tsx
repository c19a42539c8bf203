import type { z } from "zod";
import { getCheckFigures, listRuns, startRun } from "../../../services/work/runs/operations.ts";
import { getProject } from "../../../services/work/projects/operations.ts";
import { DEFINITION_PATH } from "../../../services/work/projects/mod.ts";
import type { figuresSchema, RunView } from "../../../services/work/runs/schemas.ts";
import { CodeProject } from "../../code_project.ts";
import { lengthOf } from "../../elements/log_lines.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { ConfirmForm } from "../../parts/confirm.tsx";
import { Copyable } from "../../parts/copy.tsx";
import { CheckinLink } from "../../parts/files.tsx";
import { Filters, Segments, SelectFilter } from "../../parts/filters.tsx";
import { TextField } from "../../parts/form.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { Cause, RunState, Took } from "../../parts/runs.tsx";
import { Time } from "../../parts/time.tsx";
import { type Visit, withQuery } from "../../visit.ts";

/** The runs of checks of a project, and how its checks fare. */
export const page = definePage({
  opens: "anybody",
  show,
  actions: { start },
  json: (visit) =>
    withQuery("/api/runs", {
      ...queryOf(visit),
      page: visit.query("page"),
    }),
});

const PER_PAGE = 30;

type Figures = z.output<typeof figuresSchema>;

/** The filters of the query. */
function queryOf(visit: Visit) {
  return {
    state: visit.query("state"),
    check: visit.query("check"),
    branch: visit.query("branch"),
  };
}

async function show(visit: Visit): Promise<View> {
  const project = new CodeProject(visit);
  const query = queryOf(visit);
  const [{ runs, page, total_pages }, figures, { main_branch }] = await Promise.all([
    project.invoke(listRuns, { ...query, page: visit.pageNumber, per_page: PER_PAGE }),
    project.invoke(getCheckFigures, {}),
    project.invoke(getProject, {}),
  ]);
  const isFiltered = Object.values(query).some((value) => value !== undefined);
  const isNew = runs.length === 0 && figures.length === 0 && !isFiltered;
  const body = (
    <>
      <div class="page-head">
        <h1>Checks</h1>
        {!isNew && (
          <div class="row">
            <a href="#figures">Figures</a>
            {project.open.mayWrite && <Start visit={visit} branch={main_branch} />}
          </div>
        )}
      </div>
      {isNew ? <FirstCheck {...{ project }} branch={main_branch} /> : (
        <>
          <RunFilters {...{ visit, figures }} />
          <div data-live-part="runs" data-live-on="job">
            {runs.length === 0 ? <Empty>No run fits.</Empty> : (
              <ul class="list" data-keys="list">
                {runs.map((run) => <Run {...{ project, run }} />)}
              </ul>
            )}
          </div>
          <Pager visit={visit} page={page} pages={total_pages} />
          <FigureTable {...{ visit, figures }} />
        </>
      )}
    </>
  );
  return { title: "Checks", body, project: project.place("runs"), live: project.open.live };
}

/** The states by which runs are chosen, with their words. */
const CHOICES = [
  [undefined, "All"],
  ["failing", "Failing"],
  ["open", "Not ended"],
] as const;

function RunFilters({ visit, figures }: { readonly visit: Visit; readonly figures: Figures }) {
  const chosen = visit.query("state");
  const links = CHOICES.map(([state, words]) => ({
    to: withQuery(visit.url.pathname, { ...queryOf(visit), state }),
    words,
    isCurrent: chosen === state,
  }));
  const branch = visit.query("branch");
  return (
    <div class="list-tools">
      <Segments label="State" links={links} />
      <Filters visit={visit} keep={["state"]} label="Filter runs">
        <SelectFilter
          visit={visit}
          name="check"
          label="Check"
          any="Every check"
          options={figures.map(({ check }) => [check, check] as const)}
        />
        <label>
          <span class="hidden-text">Branch</span>
          <input type="search" name="branch" value={branch ?? ""} placeholder="Branch" />
        </label>
      </Filters>
    </div>
  );
}

/** Checks that a row names. */
const SHOWN = 12;

function Run({ project: { to }, run }: { readonly project: CodeProject; readonly run: RunView }) {
  const { id, state, jobs, checkin, created_at, ended_at, fault } = run;
  const seconds = ended_at === null ? null : (Date.parse(ended_at) - Date.parse(created_at)) / 1000;
  // What failed comes first: a long list is cut.
  const shown = jobs.toSorted((one, other) => Number(isRed(other)) - Number(isRed(one)));
  return (
    <li>
      <div class="row-title">
        <a href={to.at(`/runs/${id}`)}>Run {id}</a>
        <RunState state={state} />
        {shown.slice(0, SHOWN).map((job) => (
          <a class={`badge ${lookOf(job.state)}`} href={to.at(`/jobs/${job.id}`)}>
            {job.check}
            <span class="hidden-text">: {job.state}</span>
          </a>
        ))}
        {jobs.length > SHOWN && <span class="soft small">and {jobs.length - SHOWN} more</span>}
        {fault !== null && <span class="badge bad">definition</span>}
      </div>
      <div class="meta">
        <Cause run={run} to={to} />
        <CheckinLink to={to} uuid={checkin} />
        <Time at={created_at} />
        {seconds !== null && <Took job={{ seconds, state: "success" }} />}
      </div>
    </li>
  );
}

type JobState = RunView["jobs"][number]["state"];

function isRed({ state }: { readonly state: JobState }): boolean {
  return state === "failure" || state === "error";
}

function lookOf(state: JobState): string {
  return isRed({ state })
    ? "bad"
    : state === "success"
    ? "good"
    : state === "running"
    ? "accent"
    : "";
}

/** How checks fare over the last 30 days. */
function FigureTable({ visit, figures }: { readonly visit: Visit; readonly figures: Figures }) {
  if (figures.length === 0) return null;
  return (
    <section aria-labelledby="figures">
      <h2 id="figures">The last 30 days</h2>
      <div class="table-scroll" tabindex={0} role="region" aria-label="Figures of checks">
        <table>
          <thead>
            <tr>
              <th scope="col">Check</th>
              <th scope="col">Last</th>
              <th scope="col" class="number">Jobs</th>
              <th scope="col" class="number">Passed</th>
              <th scope="col" class="number">Takes</th>
              <th scope="col" class="number">19 of 20 within</th>
              <th scope="col" class="number">Waits</th>
              <th scope="col" class="number">Flaky</th>
            </tr>
          </thead>
          <tbody>
            {figures.map((one) => (
              <tr>
                <th scope="row">
                  <a href={withQuery(visit.url.pathname, { check: one.check })}>{one.check}</a>
                </th>
                <td>
                  <RunState state={one.last_state} /> <Time at={one.last_ended_at} />
                </td>
                <td class="number">{one.jobs.toLocaleString("en")}</td>
                <td class="number">{percent(one.success_rate)}</td>
                <td class="number">{length(one.seconds_median)}</td>
                <td class="number">{length(one.seconds_p95)}</td>
                <td class="number">{length(one.queue_seconds_median)}</td>
                <td class="number">
                  {one.flaky === 0 ? "–" : (
                    <span class="badge warn">
                      {one.flaky} {one.flaky === 1 ? "check-in" : "check-ins"}
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="soft small">
        Takes and waits: half of the jobs are faster. Flaky: check-ins on which a check both failed
        and passed.
      </p>
    </section>
  );
}

function percent(rate: number | null): string {
  // A check that failed once is not at 100%.
  return rate === null ? "–" : `${Math.floor(rate * 100)}%`;
}

function length(seconds: number | null): string {
  return seconds === null ? "–" : lengthOf(seconds * 1000);
}

function Start({ visit, branch }: { readonly visit: Visit; readonly branch: string }) {
  return (
    <ConfirmForm visit={visit} action="start" label="Run checks …" button="Run them" look="">
      <TextField
        visit={visit}
        name="branch"
        label="Branch"
        hint="All its checks run on its tip."
        value={branch}
        required
      />
    </ConfirmForm>
  );
}

const EXAMPLE = `checks:
  tests:
    run: make test
    timeout: 10m
`;

/** What to do for the first check. */
function FirstCheck({ project, branch }: {
  readonly project: CodeProject;
  readonly branch: string;
}) {
  const { visit, open: { mayWrite }, to } = project;
  return (
    <div class="first-check">
      <p>No check has run. It takes two steps:</p>
      <ol>
        <li>
          <p>
            Put this into <code>{DEFINITION_PATH}</code> on <code>{branch}</code>
            {mayWrite && (
              <>
                {" "}(<a href={to.newFile(branch, ".muster")}>write it here</a>)
              </>
            )}
            :
          </p>
          <Copyable text={EXAMPLE} label="the definition" />
        </li>
        <li>
          <p>
            {visit.isAdmin
              ? (
                <>
                  Make <a href="/settings/runners">a runner</a>, and start it on any machine:
                </>
              )
              : <>An admin of the server makes a runner, and starts it on any machine:</>}
          </p>
          <Copyable text={`muster runner --url ${visit.origin}`} label="the command" />
        </li>
      </ol>
      <p class="soft">
        Then every review and every landing is tested. A CI that you have reports its results
        instead, with a token of the project: <code>POST {to.repository}/api/status</code>.
      </p>
    </div>
  );
}

async function start(visit: Visit): Promise<Leads> {
  const slug = visit.param("slug");
  const { id } = await visit.invoke(slug, startRun, { branch: visit.entered("branch").trim() });
  return { to: `/projects/${slug}/runs/${id}` };
}
