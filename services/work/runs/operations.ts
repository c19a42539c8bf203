import { z } from "zod";
import { Conflict, NotFound } from "../../kernel/errors.ts";
import { Created, operation } from "../projects/operation.ts";
import type { Project, ProjectRepositories } from "../projects/mod.ts";
import { pageOf, rangeOf } from "../projects/schemas.ts";
import type { Protection } from "../protection/mod.ts";
import type { ReviewStore } from "../reviews/mod.ts";
import type { Runners } from "../runners/mod.ts";
import { trimmedLineSchema } from "../../kernel/validation/schemas.ts";
import type { JobArtifacts } from "./artifacts.ts";
import { excerptOf } from "./excerpts.ts";
import type { RunFigures } from "./figures.ts";
import type { JobLogs } from "./job_logs.ts";
import { hasEnded, type Job, type Run } from "./records.ts";
import type { Runs } from "./runs.ts";
import {
  checkLogSchema,
  figuresSchema,
  jobDetailSchema,
  jobSchema,
  logQuerySchema,
  logSchema,
  newRunSchema,
  runDetailSchema,
  runFilterSchema,
  runSchema,
  runsSchema,
  secretNameSchema,
  secretSchema,
  secretValueSchema,
} from "./schemas.ts";
import type { CheckSecrets } from "./secrets.ts";
import { isProtected } from "./triggers.ts";
import { viewOfJob, viewOfRun } from "./views.ts";

/** What the operations on runs call. */
interface RunServices {
  readonly hosting: {
    readonly runs: Runs;
    readonly runners: Runners;
    readonly jobLogs: JobLogs;
    readonly jobArtifacts: JobArtifacts;
    readonly runFigures: RunFigures;
    readonly checkSecrets: CheckSecrets;
    readonly protection: Protection;
    readonly repositories: ProjectRepositories;
    readonly reviews: { readonly store: ReviewStore };
  };
}

/** Characters of a log that a tool shows. */
const BUDGET = 6000;

/** Most characters that the caller may ask for. */
const MAX_BUDGET = 40_000;

const run = z.coerce.number().int().min(1).max(999_999_999).meta({
  type: "integer",
  example: 1,
  description: "The number of the run",
});
const job = z.string().max(30).meta({ description: "The id of the job" });

function aroundOf({ hosting: { runners, runs } }: RunServices) {
  return { runners, now: runs.now };
}

async function showRun(services: RunServices, found: Run) {
  const jobs = await services.hosting.runs.store.jobsOf([found.id]);
  return viewOfRun(found, jobs, aroundOf(services));
}

async function showJob(services: RunServices, found: Job) {
  const of = await services.hosting.runs.store.get(found.runId);
  return viewOfJob(found, { number: of?.number ?? 0 }, aroundOf(services));
}

export const listRuns = operation({
  http: "GET /api/runs",
  needs: "read",
  summary: "Runs of checks, the newest first",
  input: runFilterSchema,
  ok: { schema: runsSchema, description: "A page" },
}, async (services: RunServices, { state, ...filter }, { project }) => {
  const { store } = services.hosting.runs;
  const { runs, total } = await store.list(project.id, {
    ...filter,
    isOpen: state === "open" ? true : state === "ended" ? false : undefined,
    isFailing: state === "failing",
    ...rangeOf(filter),
  });
  const jobs = Map.groupBy(await store.jobsOf(runs.map(({ id }) => id)), ({ runId }) => runId);
  const around = aroundOf(services);
  const views = runs.map((one) => viewOfRun(one, jobs.get(one.id) ?? [], around));
  return { runs: views, ...pageOf(filter, total) };
});

export const startRun = operation({
  http: "POST /api/runs",
  needs: "write",
  summary: "Run the checks of a branch now, on its tip",
  input: newRunSchema,
  bodyName: "CheckRunRequest",
  example: { branch: "trunk" },
  created: { schema: runSchema, description: "The run" },
  refusals: [{ error: NotFound }, { error: Conflict }],
}, async (services: RunServices, { branch: named, checks, inputs }, { project, caller }) => {
  const { runs, repositories, protection } = services.hosting;
  const branch = named ?? await repositories.mainBranches.of(project);
  const checkin = await repositories.read(project, (it) => it.branchTip(branch));
  if (checkin === null) throw new NotFound(`There is no open branch "${branch}"`);
  const { id: key, name } = caller.principal;
  const begun = await runs.begin(project, {
    cause: "manual",
    causeKey: `manual ${crypto.randomUUID()}`,
    subject: null,
    review: null,
    checkin,
    branch,
    isTrusted: isProtected(protection, project, branch),
    askedBy: { key, name },
    names: checks,
    inputs,
  });
  if (begun === null) throw new NotFound(`The branch "${branch}" defines no such checks`);
  return new Created(await showRun(services, begun));
});

export const getRun = operation({
  http: "GET /api/runs/{run}",
  needs: "read",
  summary: "A run of checks, with its jobs",
  input: z.object({ run }),
  ok: { schema: runDetailSchema, description: "The run" },
}, async (services: RunServices, { run: number }, { project }) => {
  const { runs } = services.hosting;
  const found = await runs.requireRun(project, number);
  const jobs = await runs.store.jobsOf([found.id]);
  const view = viewOfRun(found, jobs, aroundOf(services));
  const newest = new Set(view.jobs.map(({ id }) => id));
  const earlier = jobs.filter(({ id }) => !newest.has(id)).toReversed();
  return { ...view, earlier: earlier.map((one) => viewOfJob(one, found, aroundOf(services))) };
});

export const cancelRun = operation({
  http: "POST /api/runs/{run}/cancel",
  needs: "write",
  whileFull: true,
  summary: "End the jobs of a run that have not ended",
  input: z.object({ run }),
  ok: { schema: runSchema, description: "The run; jobs that run end within seconds" },
  refusals: [{ error: Conflict }],
}, async (services: RunServices, { run: number }, { project, caller }) => {
  const { runs } = services.hosting;
  await runs.cancel(project, { run: number }, caller);
  return await showRun(services, await runs.requireRun(project, number));
});

export const rerunRun = operation(
  {
    http: "POST /api/runs/{run}/rerun",
    needs: "write",
    summary: "Run all jobs of a run again that have not passed",
    input: z.object({ run }),
    ok: { schema: runSchema, description: "The run" },
    refusals: [{ error: Conflict }],
  },
  async (services: RunServices, { run: number }, { project, caller }) =>
    await showRun(services, await services.hosting.runs.rerun(project, { run: number }, caller)),
);

export const getJob = operation({
  http: "GET /api/jobs/{job}",
  needs: "read",
  summary: "A job of a run",
  input: z.object({ job }),
  ok: { schema: jobDetailSchema, description: "The job" },
}, async (services: RunServices, { job: id }, { project }) => {
  const { runs, jobLogs, jobArtifacts, runFigures } = services.hosting;
  const found = await runs.requireJob(project, id);
  const { total } = await jobLogs.read(keyOf(found), 1, 0);
  return {
    ...await showJob(services, found),
    commands: [...found.spec.commands],
    generation: found.generation,
    log_lines: total,
    artifacts: await jobArtifacts.list(found.id),
    steps: found.steps,
    last_seconds: await runFigures.lastSeconds(project, found.context),
  };
});

export const cancelJob = operation({
  http: "POST /api/jobs/{job}/cancel",
  needs: "write",
  whileFull: true,
  summary: "End a job",
  input: z.object({ job }),
  ok: { schema: jobSchema, description: "The job; one that runs ends within seconds" },
  refusals: [{ error: Conflict }],
}, async (services: RunServices, { job: id }, { project, caller }) => {
  const { runs } = services.hosting;
  await runs.cancel(project, { job: id }, caller);
  return await showJob(services, await runs.requireJob(project, id));
});

export const rerunJob = operation(
  {
    http: "POST /api/jobs/{job}/rerun",
    needs: "write",
    summary: "Run a job again, and those that were skipped because of it",
    input: z.object({ job }),
    ok: { schema: runSchema, description: "The run" },
    refusals: [{ error: Conflict }],
  },
  async (services: RunServices, { job: id }, { project, caller }) =>
    await showRun(services, await services.hosting.runs.rerun(project, { job: id }, caller)),
);

export const getJobLog = operation({
  http: "GET /api/jobs/{job}/log",
  needs: "read",
  summary: "A part of the log of a job",
  description: "`…/log/raw` has the whole log as text, and `…/log/stream` follows it.",
  input: logQuerySchema.extend({ job }),
  ok: { schema: logSchema, description: "The lines" },
}, async ({ hosting: { runs, jobLogs } }: RunServices, input, { project }) => {
  const { job: id, from, count, tail, search, generation } = input;
  const found = await runs.requireJob(project, id);
  const key = keyOf(found, generation);
  const { lines, total } = search !== undefined
    ? await jobLogs.search(key, search)
    : tail !== undefined
    ? await jobLogs.read(key, 1 - tail, tail)
    : await jobLogs.read(key, from ?? 1, count ?? 1000);
  const { state } = found;
  return { job: id, generation: key.generation, state, total, lines: [...lines] };
});

/** What tools that are about a check take. */
const TAKES = {
  check: "By default the first that failed",
  review: "Its newest round, or:",
  checkin: "A hash or workspace/NAME",
} as const;

/** What names a check of a review or a check-in. */
const checkOf = {
  check: trimmedLineSchema(1, 200).optional().describe(
    "The check; by default, the first one that failed",
  ),
  review: z.coerce.number().int().min(1).optional().meta({
    type: "integer",
    description: "The review whose newest round is tested",
  }),
  checkin: trimmedLineSchema(1, 200).optional().describe(
    "In place of the review: a check-in, a branch or workspace/NAME",
  ),
};

export const getCheckLog = operation({
  http: "GET /api/check-log",
  needs: "read",
  mcp: {
    name: "get_check_log",
    about: "Shows why a check on a runner failed: the end of its log, and lines like errors.",
    takes: TAKES,
    advice: { notFound: "get_ci_status shows the checks of a check-in" },
  },
  summary: "What matters of the log of a check: the failing part first",
  input: z.object({
    ...checkOf,
    budget: z.coerce.number().int().min(200).max(MAX_BUDGET).default(BUDGET).meta({
      type: "integer",
      description: "Characters of the log",
    }),
  }),
  ok: { schema: checkLogSchema, description: "The excerpt" },
}, async (services: RunServices, input, { project }) => {
  const { runs, jobLogs } = services.hosting;
  const found = await findJob(services, project, input);
  const of = await runs.store.get(found.runId);
  const { command, text, total } = await excerptOf(jobLogs, keyOf(found), input.budget);
  return {
    check: found.context,
    checkin: found.checkin,
    job: found.id,
    run: of?.number ?? 0,
    state: found.state,
    summary: found.summary,
    failing_command: found.state === "failure" ? command : null,
    log: text,
    lines_total: total,
    next: nextStep(found),
  };
});

export const rerunCheck = operation({
  http: "POST /api/check-rerun",
  needs: "write",
  mcp: {
    name: "rerun_check",
    about: "Runs a check on a runner again, if the change did not cause its failure.",
    takes: { check: TAKES.check, review: "Its newest round" },
    advice: {
      notFound: "get_ci_status shows the checks of a check-in",
      conflict: "wait_checks waits until it has ended",
    },
  },
  summary: "Run a check of a review or a check-in again",
  input: z.object(checkOf),
  example: { review: 1, check: "tests" },
  ok: { schema: runSchema, description: "The run" },
  refusals: [{ error: Conflict }],
}, async (services: RunServices, input, { project, caller }) => {
  const found = await findJob(services, project, input);
  return await showRun(
    services,
    await services.hosting.runs.rerun(project, { job: found.id }, caller),
  );
});

export const getCheckFigures = operation(
  {
    http: "GET /api/check-figures",
    needs: "read",
    summary: "How checks fare: success, duration, queue and flakiness over the last 30 days",
    input: z.object({}),
    ok: { schema: figuresSchema, description: "Each check that ran, by name" },
  },
  async ({ hosting: { runFigures } }: RunServices, _input, { project }) =>
    await runFigures.of(project),
);

export const listCheckSecrets = operation({
  http: "GET /api/check-secrets",
  needs: "admin",
  callers: "no passphrase",
  summary: "The names of the secrets of checks",
  input: z.object({}),
  ok: { schema: z.array(secretSchema), description: "By name; no answer has their values" },
}, async ({ hosting: { checkSecrets } }: RunServices, _input, { project }) => {
  const listed = await checkSecrets.list(project);
  return listed.map(({ name, check, setBy, setAt }) => ({
    name,
    check,
    set_by: setBy,
    set_at: new Date(setAt).toISOString(),
  }));
});

const checkName = trimmedLineSchema(1, 200).optional().describe(
  "The only check that gets it; by default, each that names it",
);

export const setCheckSecret = operation({
  http: "PUT /api/check-secrets/{name}",
  needs: "admin",
  callers: "no passphrase",
  summary: "Set a secret of checks",
  description:
    "A check gets it as a variable if it names it in `secrets`, and only for what is on " +
    "a protected branch: never for a review or a landing.",
  input: z.object({ name: secretNameSchema, value: secretValueSchema, check: checkName }),
  example: { value: "s3cret-token" },
  done: "Set",
  refusals: [{ error: Conflict }],
}, async ({ hosting: { checkSecrets } }: RunServices, { check = null, ...secret }, call) => {
  await checkSecrets.set(call.project, { ...secret, check }, call.caller);
});

export const removeCheckSecret = operation({
  http: "DELETE /api/check-secrets/{name}",
  needs: "admin",
  callers: "no passphrase",
  summary: "Remove a secret of checks",
  input: z.object({ name: secretNameSchema, check: checkName }),
  done: "Removed",
  refusals: [{ error: NotFound }],
}, async ({ hosting: { checkSecrets } }: RunServices, { name, check = null }, call) => {
  await checkSecrets.remove(call.project, name, check, call.caller);
});

/** The log of a job: that of its newest lease. */
function keyOf({ id, projectId, generation }: Job, asked = Math.max(generation, 1)) {
  return { projectId, jobId: id, generation: asked };
}

/** @throws NotFound */
async function findJob(
  { hosting: { runs, repositories, reviews } }: RunServices,
  project: Project,
  { check, review, checkin: named }: {
    readonly check?: string | undefined;
    readonly review?: number | undefined;
    readonly checkin?: string | undefined;
  },
): Promise<Job> {
  const checkin = review === undefined
    ? (await repositories.read(project, (it) => it.resolveCheckin(named))).uuid
    : await tipOf(reviews.store, project, review);
  const jobs = await runs.store.jobsOn(project.id, checkin, check);
  const failed = jobs.find((one) => one.counts && hasEnded(one) && one.state !== "success");
  const found = failed ?? jobs.find(({ counts }) => counts) ?? jobs[0];
  if (found === undefined) {
    const which = check === undefined ? "No check" : `No check "${check}"`;
    throw new NotFound(`${which} ran on a runner for ${checkin.slice(0, 10)}`);
  }
  return found;
}

async function tipOf(reviews: ReviewStore, project: Project, number: number): Promise<string> {
  const review = await reviews.find(project.id, number);
  const round = review === null ? null : await reviews.newestRound(review);
  if (round === null) throw new NotFound("Review not found");
  return round.tip;
}

function nextStep({ state }: Job): string {
  switch (state) {
    case "success":
      return "The check has passed";
    case "failure":
      return "Fix the cause and commit: the next round runs the check again. rerun_check runs it " +
        "again as it is";
    case "waiting":
    case "queued":
    case "running":
      return "wait_checks waits for its end";
    default:
      return "rerun_check runs it again";
  }
}
