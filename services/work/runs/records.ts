/** Runs and jobs, as rows hold them. */
import type { Selectable } from "kysely";
import type { Tables } from "../../engines/database/mod.ts";
import type { Contexts, WorkflowJob } from "../workflows/mod.ts";

/** What begins a run. */
export type Cause = Selectable<Tables["check_runs"]>["cause"];

export type JobState = Selectable<Tables["check_jobs"]>["state"];

/** States of jobs that have not ended. */
export const OPEN_STATES = ["waiting", "queued", "running"] as const satisfies readonly JobState[];

/** What a job does, without the secrets that it gets. */
export interface JobSpec {
  readonly commands: readonly string[];
  readonly shell: string;
  readonly timeoutSeconds: number;
  readonly network: boolean;
  readonly image: string | null;
  readonly env: Readonly<Record<string, string>>;
  /** Names of secrets. */
  readonly secrets: readonly string[];
  readonly limits: {
    readonly memoryMb: number;
    readonly processes: number;
    readonly diskMb: number;
  };
  readonly artifacts: readonly string[];
  readonly cache: { readonly key: string; readonly paths: readonly string[] } | null;
  /** Whether another job of its group in the same run does not keep it waiting. */
  readonly sharesGroup?: boolean;
  /** Of a job of a workflow. */
  readonly workflow?: WorkflowSpec;
}

/** What a job of a workflow does, and when it does it. */
export interface WorkflowSpec extends
  Pick<
    WorkflowJob,
    | "id"
    | "needs"
    | "condition"
    | "mayFail"
    | "failsFast"
    | "maxParallel"
    | "refusal"
    | "steps"
    | "payload"
  > {
  /** The workflow's path; jobs of one file need each other. */
  readonly file: string;
  /** What the workflow calls its run. */
  readonly title: string;
  /** What expressions read as `github` and `inputs`. */
  readonly github: Contexts;
  readonly inputs: Contexts;
}

/** What a definition has that muster does not do. */
export interface RunNotice {
  readonly file: string;
  readonly line: number;
  readonly what: string;
  readonly why: string;
}

/** A step of a job of a workflow. */
export interface JobStep {
  readonly name: string;
  /** Null while it has not ended. */
  readonly result: "success" | "failure" | "cancelled" | "skipped" | null;
  /** The number of its first line in the log, from 1, and how many it has. */
  readonly line: number;
  readonly lines: number;
}

/** All jobs that one cause began on one check-in. Times are Unix milliseconds. */
export interface Run {
  readonly id: string;
  readonly projectId: string;
  /** Its id in the API. */
  readonly number: number;
  readonly cause: Cause;
  /** What is tested, such as a review: a newer run of it supersedes the older one; or null. */
  readonly subject: string | null;
  readonly review: number | null;
  readonly checkin: string;
  /** The target branch, whose definition decides. */
  readonly branch: string;
  readonly definedBy: string;
  /** Whether its check-in is on a protected branch: its jobs get secrets. */
  readonly isTrusted: boolean;
  readonly askedBy: { readonly key: string | null; readonly name: string };
  /** Why it has no jobs; null if its definition is right. */
  readonly fault: string | null;
  readonly notices: readonly RunNotice[];
  readonly createdAt: number;
  readonly endedAt: number | null;
}

/** One check of a run. Times are Unix milliseconds. */
export interface Job {
  readonly id: string;
  readonly runId: string;
  readonly projectId: string;
  readonly kind: "commands" | "workflow";
  /** The check. */
  readonly name: string;
  /** Under which it reports. */
  readonly context: string;
  /** Whether its report can count: not if the change itself defines it. */
  readonly counts: boolean;
  readonly checkin: string;
  /** From 1. */
  readonly attempt: number;
  readonly state: JobState;
  readonly needs: readonly string[];
  readonly labels: readonly string[];
  readonly spec: JobSpec;
  /** Of which one at a time runs, or null. */
  readonly group: string | null;
  /** Which lease is the newest; 0 before the first one. */
  readonly generation: number;
  readonly runner: { readonly id: string; readonly name: string } | null;
  readonly cancelReason: string | null;
  readonly cancelledAt: number | null;
  readonly summary: string;
  readonly exitCode: number | null;
  /** What it leaves to jobs that need it. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly steps: readonly JobStep[];
  readonly queuedAt: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

export function runOf(row: Selectable<Tables["check_runs"]>): Run {
  return {
    id: row.id,
    projectId: row.project_id,
    number: row.number,
    cause: row.cause,
    subject: row.subject,
    review: row.review,
    checkin: row.checkin,
    branch: row.branch,
    definedBy: row.defined_by,
    isTrusted: row.is_trusted === 1,
    askedBy: { key: row.asked_by_key, name: row.asked_by_name },
    fault: row.fault,
    notices: JSON.parse(row.notices),
    createdAt: row.created_at,
    endedAt: row.ended_at,
  };
}

export function jobOf(row: Selectable<Tables["check_jobs"]>): Job {
  const { runner_id: runnerId, runner_name: runnerName } = row;
  return {
    id: row.id,
    runId: row.run_id,
    projectId: row.project_id,
    kind: row.kind,
    name: row.name,
    context: row.context,
    counts: row.counts === 1,
    checkin: row.checkin,
    attempt: row.attempt,
    state: row.state,
    needs: JSON.parse(row.needs),
    labels: JSON.parse(row.labels),
    spec: JSON.parse(row.spec),
    group: row.group_name,
    generation: row.generation,
    runner: runnerId === null ? null : { id: runnerId, name: runnerName ?? "" },
    cancelReason: row.cancel_reason,
    cancelledAt: row.cancelled_at,
    summary: row.summary,
    exitCode: row.exit_code,
    outputs: row.outputs === null ? {} : JSON.parse(row.outputs),
    steps: row.steps === null ? [] : JSON.parse(row.steps),
    queuedAt: row.queued_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
  };
}

/** Whether a job has ended. */
export function hasEnded({ state }: Pick<Job, "state">): boolean {
  return !OPEN_STATES.some((open) => open === state);
}

/** The newest attempt of each context of a run. */
export function newestAttempts(jobs: readonly Job[]): readonly Job[] {
  const newest = new Map<string, Job>();
  for (const job of jobs) {
    const known = newest.get(job.context);
    if (known === undefined || known.attempt < job.attempt) newest.set(job.context, job);
  }
  return [...newest.values()];
}
