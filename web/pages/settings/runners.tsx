import {
  changeRunner,
  createRunner,
  listRunners,
  removeRunner,
} from "../../../services/work/runners/operations.ts";
import type { Job } from "../../../services/work/runs/mod.ts";
import type { RunnerView } from "../../../services/work/runners/schemas.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { ConfirmForm } from "../../parts/confirm.tsx";
import { Copyable } from "../../parts/copy.tsx";
import { ButtonForm, Form, knownNames, TextField, wordsOf } from "../../parts/form.tsx";
import { Empty } from "../../parts/lists.tsx";
import { SettingsFrame } from "../../parts/settings_frame.tsx";
import { Time } from "../../parts/time.tsx";
import type { Visit } from "../../visit.ts";

/** The programs that run checks. */
export const page = definePage({
  opens: "admin",
  show,
  actions: { create, pause, resume, remove },
  json: () => "/v1/runners",
});

/** Most jobs that are shown with their runners. */
const MAX_JOBS = 500;

/** A runner that asks for work is seen at least so often, in milliseconds. */
const AWAY_AFTER = 3 * 60_000;

async function show(visit: Visit): Promise<View> {
  const { hosting: { runs } } = visit.services;
  const [runners, running] = await Promise.all([
    visit.invokeOnServer(listRunners, {}),
    runs.store.running(MAX_JOBS),
  ]);
  const jobs = Map.groupBy(running, ({ runner }) => runner?.name ?? "");
  const body = (
    <SettingsFrame part="runners">
      <div class="columns">
        <div data-live-part="runners" data-live-on="runner.* project.job">
          {runners.length === 0
            ? (
              <Empty>
                No runner runs checks. Make one, and start it on any machine that reaches this
                server.
              </Empty>
            )
            : (
              <ul class="list" data-keys="list">
                {runners.map((runner) => (
                  <Runner {...{ visit, runner }} jobs={jobs.get(runner.name) ?? []} />
                ))}
              </ul>
            )}
        </div>
        <section>
          <h2>Make a runner</h2>
          <Form visit={visit} action="create">
            <TextField visit={visit} name="name" label="Name" required maxlength={64} />
            <TextField
              visit={visit}
              name="labels"
              label="Labels (optional)"
              hint="What it has, such as linux, gpu. A check that names labels runs where all of them are."
            />
            <TextField
              visit={visit}
              name="projects"
              label="Projects (optional)"
              hint="Those whose jobs it takes. Empty: all."
              names={knownNames.projects(visit)}
              isList
            />
            <button type="submit" class="primary">Make the runner</button>
          </Form>
        </section>
      </div>
    </SettingsFrame>
  );
  return { title: "Runners", body, live: "/live/home" };
}

function Runner({ visit, runner, jobs }: {
  readonly visit: Visit;
  readonly runner: RunnerView;
  readonly jobs: readonly Job[];
}) {
  const { name, labels, projects, paused, isolation, version, last_seen } = runner;
  return (
    <li class="job">
      <div>
        <div class="row-title">
          <b>{name}</b> <State runner={runner} now={visit.services.scheduler.now()} />
          {labels.map((label) => <span class="badge">{label}</span>)}
        </div>
        <Jobs {...{ visit, jobs }} />
        <div class="meta">
          <span>
            {last_seen === null ? "never seen" : (
              <>
                seen <Time at={last_seen} />
              </>
            )}
          </span>
          <span>
            {projects === null
              ? "all projects"
              : projects.length === 0
              ? "no project: those that it took are gone"
              : projects.join(", ")}
          </span>
          {isolation.length > 0 && <span>{isolation.join(", ")}</span>}
          {version !== "" && <span>version {version}</span>}
        </div>
      </div>
      <div class="row">
        <ButtonForm
          visit={visit}
          action={paused ? "resume" : "pause"}
          values={{ name }}
          label={
            <>
              {paused ? "Resume" : "Pause"}
              <span class="hidden-text">{name}</span>
            </>
          }
        />
        <ConfirmForm
          visit={visit}
          action="remove"
          values={{ name }}
          label="Remove …"
          button={`Remove ${name}`}
        >
          <p>Its token ends at once. Its jobs run again elsewhere.</p>
        </ConfirmForm>
      </div>
    </li>
  );
}

function State({ runner: { paused, jobs, last_seen }, now }: {
  readonly runner: RunnerView;
  readonly now: number;
}) {
  if (paused) return <span class="badge warn">paused</span>;
  if (jobs > 0) return <span class="badge accent">{jobs === 1 ? "busy" : `${jobs} jobs`}</span>;
  if (last_seen === null) return <span class="badge">new</span>;
  return now - Date.parse(last_seen) > AWAY_AFTER
    ? <span class="badge bad">away</span>
    : <span class="badge good">idle</span>;
}

function Jobs({ visit, jobs }: { readonly visit: Visit; readonly jobs: readonly Job[] }) {
  if (jobs.length === 0) return null;
  const { projects } = visit.services.hosting;
  return (
    <p class="small">
      Runs {jobs.map(({ id, projectId, context }, place) => {
        const slug = projects.get(projectId)?.project.slug ?? "";
        return (
          <>
            {place > 0 && ", "}
            <a href={`/projects/${slug}/jobs/${id}`}>{slug}: {context}</a>
          </>
        );
      })}
    </p>
  );
}

async function create(visit: Visit): Promise<View> {
  const projects = wordsOf(visit.entered("projects"));
  const { name, token } = await visit.invokeOnServer(createRunner, {
    name: visit.entered("name").trim(),
    labels: wordsOf(visit.entered("labels")),
    projects: projects.length === 0 ? null : projects,
  });
  const lines = `export MUSTER_RUNNER_TOKEN=${token}\nmuster runner --url ${visit.origin}`;
  const body = (
    <SettingsFrame part="runners">
      <div class="notice">
        <p>
          <b>The token of {name} is shown only here.</b>{" "}
          It opens the jobs that the runner has, and nothing else.
        </p>
      </div>
      <p>Start the runner with it, on any machine that reaches this server:</p>
      <Copyable text={lines} label="the lines that start the runner" />
      <a class="button primary" href="/settings/runners">Done</a>
    </SettingsFrame>
  );
  return { title: "The runner", body, status: 201 };
}

async function change(visit: Visit, paused: boolean): Promise<Leads> {
  const name = visit.entered("name");
  await visit.invokeOnServer(changeRunner, { name, paused });
  const notice = paused
    ? `${name} takes no more jobs. It finishes those that it has.`
    : `${name} takes jobs.`;
  return { to: "/settings/runners", notice };
}

function pause(visit: Visit): Promise<Leads> {
  return change(visit, true);
}

function resume(visit: Visit): Promise<Leads> {
  return change(visit, false);
}

async function remove(visit: Visit): Promise<Leads> {
  const name = visit.entered("name");
  await visit.invokeOnServer(removeRunner, { name });
  return { to: "/settings/runners", notice: `${name} is removed.` };
}
