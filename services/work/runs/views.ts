/** Runs and jobs as the API shows them. */
import type { Runners } from "../runners/mod.ts";
import { canRun } from "./dispatcher.ts";
import { hasEnded, type Job, newestAttempts, type Run } from "./records.ts";
import type { JobView, RunView } from "./schemas.ts";

interface Surroundings {
  readonly runners: Pick<Runners, "all">;
  /** Unix milliseconds. */
  readonly now: number;
}

export function viewOfJob(job: Job, run: Pick<Run, "number">, around: Surroundings): JobView {
  const { startedAt, endedAt, state } = job;
  return {
    id: job.id,
    run: run.number,
    check: job.context,
    counts: job.counts,
    checkin: job.checkin,
    attempt: job.attempt,
    state,
    summary: job.summary,
    exit_code: job.exitCode,
    needs: [...job.needs],
    labels: [...job.labels],
    runner: job.runner?.name ?? null,
    cancelling: state === "running" ? job.cancelReason : null,
    waits_for: waitsFor(job, around),
    queued_at: isoOf(job.queuedAt),
    started_at: isoOf(startedAt),
    ended_at: isoOf(endedAt),
    seconds: startedAt === null ? null : ((endedAt ?? around.now) - startedAt) / 1000,
  };
}

/** @param jobs all attempts of its jobs */
export function viewOfRun(run: Run, jobs: readonly Job[], around: Surroundings): RunView {
  const newest = newestAttempts(jobs);
  return {
    id: run.number,
    cause: run.cause,
    review: run.review,
    checkin: run.checkin,
    branch: run.branch,
    defined_by: run.definedBy,
    trusted: run.isTrusted,
    asked_by: run.askedBy.name,
    state: stateOf(run, newest),
    fault: run.fault,
    notices: [...run.notices],
    jobs: newest.map((job) => viewOfJob(job, run, around)),
    created_at: new Date(run.createdAt).toISOString(),
    ended_at: isoOf(run.endedAt),
  };
}

function stateOf(run: Run, jobs: readonly Job[]): RunView["state"] {
  const counting = jobs.filter(({ counts }) => counts);
  const has = (wanted: Job["state"]) => counting.some(({ state }) => state === wanted);
  if (run.fault !== null || has("failure") || has("error")) return "failure";
  if (jobs.some(({ state }) => state === "running")) return "running";
  if (!jobs.every(hasEnded)) return "waiting";
  return has("cancelled") ? "cancelled" : "success";
}

/** Why a job does not run yet; null if it does, or has ended. */
function waitsFor(job: Job, { runners }: Surroundings): string | null {
  if (job.state === "waiting") {
    return job.needs.length === 0 ? "other jobs of the run" : job.needs.join(" and ");
  }
  if (job.state !== "queued") return null;
  const all = runners.all();
  if (all.length === 0) return "a runner: there is none. `muster runner create` makes one";
  if (all.some((runner) => canRun(runner, job))) {
    return job.group === null
      ? "a runner that is free"
      : `a runner that is free, and its turn in the group ${job.group}`;
  }
  const labels = job.labels.length === 0 ? "" : ` with the labels ${job.labels.join(", ")}`;
  return `a runner${labels} for this project: there is none, or it is paused`;
}

function isoOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
