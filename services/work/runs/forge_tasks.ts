/** The jobs of workflows, as the runners of Forgejo and Gitea know them: as numbered tasks. */
import { Conflict, TooLarge, Unavailable } from "../../kernel/errors.ts";
import type { EarlyEnd } from "../../kernel/early_end.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Caller } from "../../people/identity/mod.ts";
import type { Project } from "../projects/mod.ts";
import type { Lease, Leases, Runner, Runners } from "../runners/mod.ts";
import type { Contexts, Need } from "../workflows/mod.ts";
import type { LogLine } from "./assignment.ts";
import type { Dispatcher, LeasedJob } from "./dispatcher.ts";
import type { JobLogs } from "./job_logs.ts";
import { MAX_LINE } from "./line_length.ts";
import { type Job, type JobStep, newestAttempts } from "./records.ts";
import type { Runs } from "./runs.ts";
import { needsOfJob } from "./workflow_advancing.ts";

/** How old a lease may become until it is renewed, in milliseconds. */
const RENEW_EVERY = 10_000;
/** Lines that are added to a log at once. */
const BATCH_LINES = 1000;
/** Most characters of all outputs of a job. */
const MAX_OUTPUTS = 1_000_000;

/** Begins the line of a log that names the step that begins. */
const STEP = "⭐ Run ";

export interface ForgeTasksOptions {
  readonly runs: Runs;
  readonly runners: Runners;
  readonly leases: Leases;
  readonly dispatcher: Dispatcher;
  readonly jobLogs: JobLogs;
  readonly scheduler: Scheduler;
}

/** A task for a runner. */
export interface ForgeTask {
  readonly number: number;
  /** A workflow of one job. */
  readonly payload: string;
  /** Without the addresses of this server. */
  readonly github: Contexts;
  /** Of the job: it reads the project. */
  readonly token: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly needs: Readonly<Record<string, Need>>;
  readonly project: Project;
}

/** A step as a runner tells it; rows of the log count from 0. */
export interface ToldStep {
  readonly result: JobStep["result"];
  readonly row: number;
  readonly rows: number;
}

/** How far a task is, as its runner tells. */
export interface TaskProgress {
  /** Null while it runs. */
  readonly result: JobStep["result"];
  readonly steps: readonly ToldStep[];
  readonly outputs: Readonly<Record<string, string>>;
}

/** A row of the log of a task. */
export interface TaskRow {
  /** Unix milliseconds. */
  readonly at: number;
  readonly text: string;
}

/** What this process knows of a task that runs. */
interface Known {
  renewedAt: number;
  steps: string;
  /** Whether all rows of its log are there. */
  isLogged: boolean;
}

/**
 * Gives the jobs of workflows to runners that speak Forgejo's protocol, and takes what they tell. A
 * task is a lease: its number names the job and the generation. What comes for a lease that has
 * ended changes nothing; its runner is told to end.
 */
export class ForgeTasks {
  readonly #options: ForgeTasksOptions;
  /** By number. */
  readonly #known = new Map<number, Known>();

  constructor(options: ForgeTasksOptions) {
    this.#options = options;
  }

  /** The runner of a caller, which says what it is. */
  async declare(
    { principal }: Caller,
    { version, labels }: { readonly version: string; readonly labels: readonly string[] },
  ): Promise<Runner> {
    const { runners } = this.#options;
    const id = principal.id ?? "";
    runners.note(id, { version, isolation: [] });
    return await runners.declare(id, labels);
  }

  /**
   * The next task of a runner; null if none comes in time.
   *
   * @param wait milliseconds
   */
  async next(caller: Caller, wait: number, end: EarlyEnd): Promise<ForgeTask | null> {
    const { dispatcher, runners, scheduler } = this.#options;
    runners.note(caller.principal.id ?? "");
    const asked = { wait, isolation: [], kinds: ["workflow"] as const };
    const leased = await dispatcher.lease(caller, asked, end);
    if (leased === null) return null;
    const known = { renewedAt: scheduler.now(), steps: "", isLogged: false };
    this.#known.set(leased.lease.number, known);
    return await this.#taskOf(leased);
  }

  /**
   * Takes how far a task is, and its result.
   *
   * @returns `ended` with the task's result; `cancelled` if the runner shall end it
   * @throws Unavailable if a part of its log is missing: the runner sends it, and the result again
   */
  async update(
    caller: Caller,
    number: number,
    { result, steps, outputs }: TaskProgress,
  ): Promise<"running" | "cancelled" | "ended"> {
    const { runs, jobLogs } = this.#options;
    const lease = await this.#lease(caller, number);
    if (lease === null) return "cancelled";
    const job = await runs.store.job(lease.jobId);
    if (job === null) return "cancelled";
    const known = this.#knownOf(number);
    const told = stepsOf(job, steps);
    if (result === null) {
      const text = JSON.stringify(told);
      if (text !== known.steps) await runs.progress(lease, told);
      known.steps = text;
      return job.cancelReason === null && !this.#isLate(job) ? "running" : "cancelled";
    }
    if (!known.isLogged) {
      throw new Unavailable("Send the rest of the log first", { retryAfterSeconds: 1 });
    }
    await jobLogs.end(lease);
    await runs.finish(lease, job.id, {
      generation: lease.generation,
      ...outcomeOf(job, { result, steps: told, isLate: this.#isLate(job) }),
      exit_code: null,
      outputs: JSON.stringify(bounded(outputs)),
      steps: JSON.stringify(told),
    }, caller);
    this.#known.delete(number);
    return "ended";
  }

  /**
   * Takes rows of a task's log. Those that are there already are skipped.
   *
   * @param from the index of the first row, from 0
   * @param isLast whether no more rows come
   * @returns how many rows the runner need not send again
   */
  async log(
    caller: Caller,
    number: number,
    { from, rows, isLast }: {
      readonly from: number;
      readonly rows: readonly TaskRow[];
      readonly isLast: boolean;
    },
  ): Promise<number> {
    const { runs, jobLogs } = this.#options;
    const end = from + rows.length;
    const lease = await this.#lease(caller, number);
    const job = lease === null ? null : await runs.store.job(lease.jobId);
    if (lease === null || job === null) return end;
    const known = this.#knownOf(number);
    const startedAt = job.startedAt ?? 0;
    let next = from + 1;
    try {
      for (let at = 0; at < rows.length; at += BATCH_LINES) {
        const lines = rows.slice(at, at + BATCH_LINES).map((row) => lineOf(row, startedAt));
        next = await jobLogs.append(lease, from + at + 1, lines);
      }
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      next = end + 1; // The log is full: the job goes on without it.
    }
    if (isLast && next > end) known.isLogged = true;
    return Math.max(next - 1, end);
  }

  /** The lease that a runner means, kept alive; null if it has ended. */
  async #lease({ principal }: Caller, number: number): Promise<Lease | null> {
    const { leases, runners, scheduler } = this.#options;
    const lease = leases.numbered(number);
    if (lease === null || lease.runnerId !== principal.id) {
      this.#known.delete(number);
      return null;
    }
    const known = this.#knownOf(number);
    const now = scheduler.now();
    if (now - known.renewedAt < RENEW_EVERY) return lease;
    runners.note(lease.runnerId);
    try {
      await leases.renew(lease);
    } catch (error) {
      if (error instanceof Conflict) return null;
      throw error;
    }
    known.renewedAt = now;
    return lease;
  }

  #isLate({ startedAt, spec }: Job): boolean {
    return startedAt !== null &&
      this.#options.scheduler.now() >= startedAt + spec.timeoutSeconds * 1000;
  }

  /** A task that another process gave away is renewed at once. */
  #knownOf(number: number): Known {
    const known = this.#known.get(number) ?? { renewedAt: 0, steps: "", isLogged: false };
    this.#known.set(number, known);
    return known;
  }

  async #taskOf({ job, run, project, lease, token, secrets }: LeasedJob): Promise<ForgeTask> {
    const { workflow } = job.spec;
    const jobs = newestAttempts(await this.#options.runs.store.jobsOf([run.id]));
    return {
      number: lease.number,
      payload: workflow?.payload ?? "",
      github: {
        ...workflow?.github,
        job: workflow?.id ?? "",
        run_number: String(run.number),
        run_attempt: String(job.attempt),
      },
      token,
      secrets,
      needs: await needsOfJob(job, jobs),
      project,
    };
  }
}

function stepsOf({ spec: { workflow } }: Job, told: readonly ToldStep[]): JobStep[] {
  return told.slice(0, workflow?.steps.length ?? 0).map(({ result, row, rows }, index) => ({
    name: workflow?.steps[index] ?? "",
    result,
    line: row + 1,
    lines: rows,
  }));
}

function outcomeOf(
  { spec: { workflow, timeoutSeconds }, cancelReason }: Job,
  { result, steps, isLate }: {
    readonly result: Exclude<JobStep["result"], null>;
    readonly steps: readonly JobStep[];
    readonly isLate: boolean;
  },
): { readonly outcome: "success" | "failure" | "error"; readonly summary: string } {
  if (result === "success") return { outcome: "success", summary: "Passed" };
  // A runner that was told to end a job says that it has failed.
  if (cancelReason !== null) return { outcome: "error", summary: cancelReason };
  if (isLate) {
    const summary = `Ended after ${timeoutSeconds} seconds, which is its limit`;
    return { outcome: "error", summary };
  }
  if (result !== "failure") {
    return { outcome: "error", summary: "Its runner ended it before it was over" };
  }
  const step = steps.find((one) => one.result === "failure");
  const summary = step === undefined ? "Failed" : `Failed in the step "${step.name}"`;
  return workflow?.mayFail === true
    ? { outcome: "success", summary: `${summary}, which its workflow allows` }
    : { outcome: "failure", summary };
}

function lineOf({ at, text }: TaskRow, startedAt: number): LogLine {
  const isStep = text.startsWith(STEP);
  const shown = isStep ? text.slice(STEP.length).split("\n", 1)[0] ?? "" : text;
  return {
    at: Math.max(0, at - startedAt),
    stream: isStep ? "command" : "out",
    text: shown.length <= MAX_LINE ? shown : `${shown.slice(0, MAX_LINE - 1)}…`,
  };
}

/** Outputs as far as they have room; the others are left out. */
function bounded(outputs: Readonly<Record<string, string>>): Record<string, string> {
  let left = MAX_OUTPUTS;
  const kept = Object.entries(outputs).filter(([name, value]) => {
    left -= name.length + value.length;
    return left >= 0;
  });
  return Object.fromEntries(kept);
}
