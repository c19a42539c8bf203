import type { Selectable } from "kysely";
import { monotonicFactory } from "ulid";
import {
  type Change,
  type Database,
  Duplicate,
  type NewEvent,
  type Statement,
  statement,
  type Tables,
  Unchanged,
} from "../../engines/database/mod.ts";
import { type Origin, SYSTEM } from "../../engines/events/mod.ts";
import { Conflict, NotFound } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { Semaphore } from "../../kernel/semaphore.ts";
import { TimedSweep } from "../../kernel/sweep.ts";
import { type Caller, originOf } from "../../people/identity/mod.ts";
import type { Checks } from "../checks/mod.ts";
import {
  type Actor,
  type Project,
  projectEvent,
  type ProjectRepositories,
  type Projects,
} from "../projects/mod.ts";
import { runnersOf } from "../protection/mod.ts";
import { type Lease, LEASE_MS, leaseGone, type Leases, type Runners } from "../runners/mod.ts";
import { nextByNeeds, type NextOf } from "./advancing.ts";
import type { FinishRequest } from "./assignment.ts";
import { lastLinesOf } from "./excerpts.ts";
import type { JobLogs } from "./job_logs.ts";
import type { JobSource, PlannedJob, Trigger } from "./planning.ts";
import {
  hasEnded,
  type Job,
  type JobState,
  type JobStep,
  newestAttempts,
  OPEN_STATES,
  type Run,
} from "./records.ts";
import { RunStore } from "./store.ts";

/** How many runners a job may lose before it ends with an error. */
const MAX_GENERATIONS = 3;

/** Most jobs of a project that wait or run. */
const MAX_OPEN_JOBS = 1000;

/** Most attempts of a job. */
const MAX_ATTEMPTS = 20;

/** How long a runner may take to end a job that is cancelled or out of time, in milliseconds. */
const GRACE_MS = 60_000;

/** Attempts at a change if a report of the same context comes meanwhile. */
const TRIES = 3;

/** What a message about a check that failed has of its log. */
const LAST_LINES = 40;
const LAST_CHARACTERS = 600;

/** Longest description of a report. */
const MAX_DESCRIPTION = 500;

export interface RunsOptions {
  readonly database: Database;
  readonly projects: Pick<Projects, "get">;
  readonly repositories: Pick<ProjectRepositories, "read" | "homes">;
  readonly checks: Pick<Checks, "reporting">;
  readonly leases: Leases;
  readonly runners: Pick<Runners, "get" | "onChanged">;
  /** Ends the log of each lease. */
  readonly logs: Pick<JobLogs, "end" | "ended" | "read">;
  readonly sources: readonly JobSource[];
  /** Decides about the jobs of workflows, in place of their needs alone. */
  readonly nextOfWorkflow: NextOf;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** How a job ends. */
interface End {
  readonly state: Exclude<JobState, (typeof OPEN_STATES)[number]>;
  readonly summary: string;
  readonly exitCode?: number | null;
  /** JSON. */
  readonly outputs?: string | null;
  readonly steps?: string | null;
  /** Whether its check passes though it was skipped. */
  readonly passes?: boolean;
}

/** Who asks for something, for the log of events. */
interface By {
  readonly origin: Origin;
  readonly name: string;
}

const BY_MUSTER: By = { origin: SYSTEM, name: "muster" };

/**
 * Runs of checks: what begins them, how their jobs follow each other, and how they end. All changes of a
 * project's runs come one after the other, on the node with its repository; only a lease begins
 * anywhere. Each is one transaction with its report and its event, and is decided from the database
 * alone, so that everything goes on after a kill.
 */
export class Runs {
  readonly store: RunStore;
  readonly #options: RunsOptions;
  readonly #newId = monotonicFactory();
  /** One change of a project's runs at a time. */
  readonly #turns = new Semaphore({
    permitsPerKey: 1,
    refusal: () => new Conflict("Too many changes of runs wait"),
  });
  readonly #watch: TimedSweep;
  /** Until then, runners that knew the last process may come back. */
  #graceUntil = 0;

  constructor(options: RunsOptions) {
    this.#options = options;
    this.store = new RunStore(options.database);
    this.#watch = new TimedSweep({
      ...options,
      name: "end lost jobs",
      task: () => this.#endLost(),
    });
  }

  /** The time by which jobs begin and end, in Unix milliseconds. */
  get now(): number {
    return this.#options.scheduler.now();
  }

  /** Goes on with all open runs of the projects on this node. */
  async start(): Promise<void> {
    const { scheduler, projects, repositories: { homes }, log, runners } = this.#options;
    this.#graceUntil = scheduler.now() + LEASE_MS;
    runners.onChanged(() => this.#watch.start());
    homes.onChanged((project, isHere) => {
      if (!isHere) return;
      this.#graceUntil = scheduler.now() + LEASE_MS;
      void this.#goOn(project).catch((error: unknown) => {
        log.warn("The runs of a project could not go on", { project: project.slug, error });
      });
    });
    for (const id of await this.store.openProjects()) {
      const project = projects.get(id)?.project;
      if (project !== undefined && homes.isHere(project)) await this.#goOn(project);
    }
    this.#watch.start();
  }

  async close(): Promise<void> {
    await this.#watch.close();
  }

  /** Looks again when the next lease ends: a job has begun. */
  expectLease(): void {
    this.#watch.expect(this.#options.scheduler.now() + LEASE_MS);
  }

  /**
   * Begins what the definitions say to a trigger.
   *
   * @returns null if there is nothing to do, or the cause has begun its run already
   * @throws NotFound if there is no such branch or check-in
   */
  async begin(project: Project, trigger: Trigger, by: By = BY_MUSTER): Promise<Run | null> {
    const { repositories, sources, scheduler } = this.#options;
    using _ = await this.#turns.acquire(project.id);
    if (await this.store.hasBegun(project.id, trigger.causeKey)) return null;
    const definedBy = await repositories.read(project, (it) => it.branchTip(trigger.branch));
    if (definedBy === null) throw new NotFound(`There is no open branch "${trigger.branch}"`);
    const plans = await Promise.all(
      sources.map((source) => source.planOf(project, trigger, definedBy)),
    );
    const jobs = uniqueContexts(plans.flatMap((plan) => plan.jobs));
    const faults = plans.flatMap((plan) => plan.faults);
    const notices = plans.flatMap((plan) => plan.notices);
    if (trigger.subject !== null) {
      for (const run of await this.store.open(project.id, trigger.subject)) {
        const reason = `Superseded by a newer ${
          trigger.cause === "review" ? "round" : "candidate"
        }`;
        await this.#cancelRun(project, run, reason, by);
      }
    }
    if (jobs.length === 0 && faults.length === 0) return null;
    if (await this.store.countOpen(project.id) + jobs.length > MAX_OPEN_JOBS) {
      throw new Conflict(`A project has at most ${MAX_OPEN_JOBS} jobs that wait or run`);
    }
    for (const group of new Set(jobs.filter((job) => job.cancelsGroup).map((job) => job.group))) {
      for (const job of await this.store.openOfGroup(project.id, group ?? "")) {
        await this.#cancelJob(project, job, `Superseded in the group ${group}`, by);
      }
    }
    const now = scheduler.now();
    const id = this.#newId(now);
    const row = {
      id,
      project_id: project.id,
      cause: trigger.cause,
      cause_key: trigger.causeKey,
      subject: trigger.subject,
      review: trigger.review,
      checkin: trigger.checkin,
      branch: trigger.branch,
      defined_by: definedBy,
      is_trusted: trigger.isTrusted ? 1 : 0,
      asked_by_key: trigger.askedBy.key,
      asked_by_name: trigger.askedBy.name,
      fault: faults.length === 0 ? null : faults.map(({ text }) => text).join("\n"),
      notices: JSON.stringify(notices),
      created_at: now,
      ended_at: jobs.length === 0 ? now : null,
    };
    const rows = jobs.map((job) => this.#rowOf(job, { id, project, trigger, attempt: 1, now }));
    for (let left = TRIES;; left--) {
      const number = await this.#nextNumber(project);
      try {
        await this.#options.database.commit(
          await this.#beginning(project, { ...row, number }, rows, faults, by),
        );
        break;
      } catch (error) {
        if (error instanceof Duplicate && await this.store.hasBegun(project.id, trigger.causeKey)) {
          return null;
        }
        if (left <= 1 || !isRaced(error)) throw error;
      }
    }
    await this.#advance(project, id);
    return await this.store.get(id);
  }

  /**
   * Ends all open runs of a subject: what they test is not wanted any more.
   *
   * @param reason a sentence without a period
   */
  async abandon(project: Project, subject: string, reason: string): Promise<void> {
    using _ = await this.#turns.acquire(project.id);
    for (const run of await this.store.open(project.id, subject)) {
      await this.#cancelRun(project, run, reason, BY_MUSTER);
    }
  }

  /**
   * Ends the open jobs of a run, or one of them.
   *
   * @throws NotFound; Conflict if it has ended
   */
  async cancel(
    project: Project,
    of: { readonly run: number } | { readonly job: string },
    caller: Caller,
  ): Promise<void> {
    using _ = await this.#turns.acquire(project.id);
    const by = { origin: originOf(caller), name: caller.principal.name };
    const reason = `Cancelled by ${by.name}`;
    if ("job" in of) {
      const job = await this.requireJob(project, of.job);
      if (hasEnded(job)) throw new Conflict("The job has ended");
      await this.#cancelJob(project, job, reason, by);
      return await this.#advance(project, job.runId);
    }
    const run = await this.requireRun(project, of.run);
    if (run.endedAt !== null) throw new Conflict("The run has ended");
    await this.#cancelRun(project, run, reason, by);
  }

  /** Ends the open jobs that halted agents asked for. @param reasonOf why an account is halted */
  async cancelHalted(
    project: Project,
    reasonOf: (accountId: string | null) => string | null,
  ): Promise<void> {
    using _ = await this.#turns.acquire(project.id);
    for (const run of await this.store.open(project.id)) {
      if (reasonOf(run.askedBy.key) === null) continue;
      await this.#cancelRun(project, run, `${run.askedBy.name} is halted`, BY_MUSTER);
    }
  }

  /**
   * Runs jobs again, as new attempts of the same commands on the same check-in: one, with those that were
   * skipped because of it; or all of a run that have not passed.
   *
   * @throws NotFound; Conflict if they have not ended, all have passed, or there were too many attempts
   */
  async rerun(
    project: Project,
    of: { readonly run: number } | { readonly job: string },
    caller: Caller,
  ): Promise<Run> {
    using _ = await this.#turns.acquire(project.id);
    const asked = "job" in of ? await this.requireJob(project, of.job) : null;
    const run = asked === null
      ? await this.requireRun(project, (of as { readonly run: number }).run)
      : await this.#runOf(asked);
    const jobs = newestAttempts(await this.store.jobsOf([run.id]));
    const again = asked === null
      ? jobs.filter(({ state }) => state !== "success")
      : withDependents(jobs, asked.context);
    if (again.length === 0) {
      throw new Conflict("All checks of the run have passed: name one of them");
    }
    if (again.some((job) => !hasEnded(job))) {
      throw new Conflict("A job has not ended: wait, or cancel it first");
    }
    if (again.some(({ attempt }) => attempt >= MAX_ATTEMPTS)) {
      throw new Conflict(`A job has at most ${MAX_ATTEMPTS} attempts`);
    }
    const now = this.#options.scheduler.now();
    const by = { origin: originOf(caller), name: caller.principal.name };
    const rows = again.map((job) => ({
      ...this.#rowOf({ ...job, cancelsGroup: false }, {
        id: run.id,
        project,
        trigger: run,
        attempt: job.attempt + 1,
        now,
      }),
      state: "waiting" as const,
      queued_at: null,
    }));
    const { database } = this.#options;
    const reopening = statement(
      database.tables.updateTable("check_runs").set({ ended_at: null }).where("id", "=", run.id),
      { mustChange: true },
    );
    await this.#commit(async () => {
      const changes = await this.#asking(project, run, rows, by);
      return { ...changes, statements: [reopening, ...changes.statements] };
    });
    await this.#advance(project, run.id);
    return await this.#runOf({ runId: run.id });
  }

  /** Keeps how far the steps of a job are. */
  async progress({ jobId, generation }: Lease, steps: readonly JobStep[]): Promise<void> {
    const { database } = this.#options;
    const update = database.tables.updateTable("check_jobs").set({ steps: JSON.stringify(steps) })
      .where("id", "=", jobId).where("generation", "=", generation).where("state", "=", "running");
    await database.commit({ statements: [statement(update)] });
  }

  /**
   * Takes the result of a job from its runner, and reports it. May be repeated.
   *
   * @returns how the job has ended
   * @throws Conflict if the lease has ended otherwise
   */
  async finish(
    lease: Lease | null,
    jobId: string,
    request: FinishRequest & { readonly outputs?: string | null; readonly steps?: string | null },
    caller: Caller,
  ): Promise<JobState> {
    const known = await this.store.job(jobId);
    const project = this.#options.projects.get(known?.projectId ?? "")?.project;
    if (known === null || project === undefined) throw leaseGone();
    using _ = await this.#turns.acquire(project.id);
    const job = await this.store.job(jobId);
    if (job === null) throw leaseGone();
    const isIts = job.generation === request.generation && job.runner?.id === caller.principal.id;
    if (isIts && hasEnded(job)) return job.state;
    if (!isIts || lease === null || job.state !== "running") throw leaseGone();
    const by = { origin: originOf(caller), name: caller.principal.name };
    const { outcome, exit_code: exitCode } = request;
    if (outcome === "cancelled" && job.cancelReason === null) {
      await this.#giveBack(project, job, lease, "The runner gave it back");
      return (await this.store.job(jobId))?.state ?? "cancelled";
    }
    const state = job.cancelReason === null ? outcome : "cancelled";
    const summary = state === "cancelled" && job.cancelReason !== null
      ? job.cancelReason
      : request.summary || summaryOf(state, exitCode);
    const { outputs = null, steps = null } = request;
    await this.#end(project, job, { state, summary, exitCode, outputs, steps }, by, lease);
    await this.#advance(project, job.runId);
    return state;
  }

  /** The last lines of the log of a check, as one; empty if it did not run on a runner. */
  async lastLines(project: Project, checkin: string, context: string): Promise<string> {
    const [job] = await this.store.jobsOn(project.id, checkin, context);
    if (job === undefined || job.generation === 0) return "";
    const { id: jobId, projectId, generation } = job;
    const key = { projectId, jobId, generation };
    const { lines } = await this.#options.logs.read(key, 1 - LAST_LINES, LAST_LINES);
    return lastLinesOf(lines, LAST_CHARACTERS);
  }

  /** @throws NotFound */
  async requireRun(project: Pick<Project, "id">, number: number): Promise<Run> {
    const run = await this.store.numbered(project.id, number);
    if (run === null) throw new NotFound(`There is no run ${number}`);
    return run;
  }

  /** @throws NotFound */
  async requireJob(project: Pick<Project, "id">, id: string): Promise<Job> {
    const job = await this.store.job(id);
    if (job?.projectId !== project.id) throw new NotFound(`There is no job "${id}"`);
    return job as Job;
  }

  /** The event that tells how a job stands. */
  eventOf(
    project: Pick<Project, "id" | "slug">,
    run: Pick<Run, "number" | "review">,
    job: Pick<Job, "id" | "context" | "checkin" | "attempt" | "state" | "cancelReason"> & {
      readonly runner: { readonly name: string } | null;
    },
    origin: Origin,
  ): NewEvent {
    return projectEvent(project, "project.job", {
      job: job.id,
      run: run.number,
      name: job.context,
      checkin: job.checkin,
      review: run.review,
      attempt: job.attempt,
      state: job.state,
      runner: job.runner?.name ?? null,
      cancelled: job.state === "running" ? job.cancelReason : null,
    }, { origin, time: this.#options.scheduler.now() });
  }

  async #goOn(project: Project): Promise<void> {
    using _ = await this.#turns.acquire(project.id);
    for (const run of await this.store.open(project.id)) await this.#advance(project, run.id);
    this.#watch.start();
  }

  async #runOf({ runId }: Pick<Job, "runId">): Promise<Run> {
    const run = await this.store.get(runId);
    if (run === null) throw new NotFound("The run is gone");
    return run;
  }

  async #nextNumber({ id }: Pick<Project, "id">): Promise<number> {
    const { last } = await this.#options.database.tables.selectFrom("check_runs")
      .select(({ fn }) => fn.max("number").as("last")).where("project_id", "=", id)
      .executeTakeFirstOrThrow();
    return Number(last ?? 0) + 1;
  }

  #rowOf(job: PlannedJob, { id, project, trigger, attempt, now }: {
    readonly id: string;
    readonly project: Project;
    readonly trigger: Pick<Trigger, "checkin">;
    readonly attempt: number;
    readonly now: number;
  }): Selectable<Tables["check_jobs"]> {
    const isReady = job.kind === "commands" && job.needs.length === 0;
    return {
      id: this.#newId(now),
      run_id: id,
      project_id: project.id,
      kind: job.kind,
      name: job.name,
      context: job.context,
      counts: job.counts ? 1 : 0,
      checkin: trigger.checkin,
      attempt,
      state: isReady ? "queued" : "waiting",
      needs: JSON.stringify(job.needs),
      labels: JSON.stringify(job.labels),
      spec: JSON.stringify(job.spec),
      group_name: job.group,
      generation: 0,
      runner_id: null,
      runner_name: null,
      cancel_reason: null,
      cancelled_at: null,
      summary: "",
      exit_code: null,
      outputs: null,
      steps: null,
      queued_at: isReady ? now : null,
      started_at: null,
      ended_at: null,
    };
  }

  async #beginning(
    project: Project,
    row: Selectable<Tables["check_runs"]>,
    jobs: readonly Selectable<Tables["check_jobs"]>[],
    faults: readonly { readonly context: string; readonly text: string }[],
    by: By,
  ): Promise<Required<Change>> {
    const { database: { tables }, checks } = this.#options;
    const { origin } = by;
    const asked = await this.#asking(project, row, jobs, by);
    const wrong = await Promise.all(faults.map(({ context, text }) =>
      checks.reporting(project, {
        checkin: row.checkin,
        context,
        state: "error",
        description: clipped(text),
        target_url: "",
      }, {
        actor: reporterOf(null, { branch: row.branch, counts: false }),
        origin,
        about: { review: row.review },
      })
    ));
    return {
      statements: [
        statement(tables.insertInto("check_runs").values(row)),
        ...asked.statements,
        ...wrong.flatMap((change) => change.statements),
      ],
      events: [...asked.events, ...wrong.flatMap((change) => change.events)],
    };
  }

  /** Adds jobs to a run, and reports that their checks are pending. */
  async #asking(
    project: Project,
    run: Pick<Run, "number" | "review" | "branch">,
    jobs: readonly Selectable<Tables["check_jobs"]>[],
    { origin }: By,
  ): Promise<Required<Change>> {
    const { database: { tables }, checks } = this.#options;
    const statements: Statement[] = [];
    const events: NewEvent[] = [];
    for (const job of jobs) {
      const report = await checks.reporting(project, {
        checkin: job.checkin,
        context: job.context,
        state: "pending",
        description: job.state === "queued" ? "Waits for a runner" : "Waits for other checks",
        target_url: "",
      }, {
        actor: reporterOf(null, { branch: run.branch, counts: job.counts === 1 }),
        origin,
      });
      statements.push(statement(tables.insertInto("check_jobs").values(job)), ...report.statements);
      const about = { ...job, runner: null, cancelReason: null };
      events.push(...report.events, this.eventOf(project, run, about, origin));
    }
    return { statements, events };
  }

  async #cancelRun(project: Project, run: Run, reason: string, by: By): Promise<void> {
    for (const job of newestAttempts(await this.store.jobsOf([run.id]))) {
      if (!hasEnded(job)) await this.#cancelJob(project, job, reason, by);
    }
    await this.#advance(project, run.id);
  }

  /** Ends a job that waits; a runner that has it learns that it shall end it. */
  async #cancelJob(project: Project, { id }: Job, reason: string, by: By): Promise<void> {
    for (let left = TRIES;; left--) {
      const job = await this.store.job(id);
      if (job === null || hasEnded(job) || job.cancelReason !== null) return;
      try {
        if (job.state === "running") return await this.#cancelRunning(project, job, reason, by);
        return await this.#end(project, job, { state: "cancelled", summary: reason }, by);
      } catch (error) {
        // A runner has just got it.
        if (left <= 1 || !(error instanceof Unchanged)) throw error;
      }
    }
  }

  async #cancelRunning(project: Project, job: Job, reason: string, by: By): Promise<void> {
    const { database, scheduler } = this.#options;
    const now = scheduler.now();
    const update = database.tables.updateTable("check_jobs")
      .set({ cancel_reason: reason, cancelled_at: now })
      .where("id", "=", job.id).where("state", "=", "running").where("cancel_reason", "is", null);
    const run = await this.#runOf(job);
    await database.commit({
      statements: [statement(update, { mustChange: true })],
      events: [this.eventOf(project, run, { ...job, cancelReason: reason }, by.origin)],
    });
    this.#watch.expect(now + GRACE_MS);
  }

  /**
   * Ends a job, with its report.
   *
   * @param lease that of its runner, which ends too
   */
  async #end(project: Project, job: Job, end: End, by: By, lease?: Lease): Promise<void> {
    const { database, scheduler, checks, leases } = this.#options;
    const run = await this.#runOf(job);
    const { state, summary, exitCode = null, outputs = null, steps = null, passes } = end;
    const update = database.tables.updateTable("check_jobs").set({
      state,
      summary,
      exit_code: exitCode,
      outputs,
      ...steps === null ? {} : { steps },
      ended_at: scheduler.now(),
    }).where("id", "=", job.id).where("state", "in", OPEN_STATES)
      .where("generation", "=", job.generation);
    const isRunners = lease !== undefined && by.origin !== SYSTEM;
    if (lease !== undefined) await this.#options.logs.end(lease);
    await this.#commit(async () => {
      const report = await checks.reporting(project, {
        checkin: job.checkin,
        context: job.context,
        state: passes === true
          ? "success"
          : state === "success" || state === "failure"
          ? state
          : "error",
        description: clipped(summary),
        target_url: "",
      }, {
        actor: reporterOf(isRunners ? job.runner : null, {
          branch: run.branch,
          counts: job.counts,
        }),
        origin: by.origin,
        unread: state === "cancelled" || state === "skipped" ? state : undefined,
        about: { review: run.review, job: job.id },
      });
      return {
        statements: [
          statement(update, { mustChange: true }),
          ...lease === undefined ? [] : [leases.ending(lease)],
          ...report.statements,
        ],
        events: [...report.events, this.eventOf(project, run, { ...job, state }, by.origin)],
      };
    });
    if (lease !== undefined) this.#options.logs.ended(lease);
  }

  /** Lets a job run elsewhere, unless it has lost too many runners. */
  async #giveBack(project: Project, job: Job, lease: Lease, why: string): Promise<void> {
    if (job.cancelReason !== null) {
      const end = { state: "cancelled", summary: job.cancelReason } as const;
      await this.#end(project, job, end, BY_MUSTER, lease);
      return await this.#advance(project, job.runId);
    }
    if (job.generation >= MAX_GENERATIONS) {
      const summary = `No runner finished it: ${job.generation} were lost, the last one was ` +
        `${job.runner?.name ?? "unknown"}`;
      await this.#end(project, job, { state: "error", summary }, BY_MUSTER, lease);
      return await this.#advance(project, job.runId);
    }
    const { database, leases, log, scheduler, logs } = this.#options;
    await logs.end(lease);
    log.info("A job runs again elsewhere", { job: job.id, runner: job.runner?.name, why });
    const update = database.tables.updateTable("check_jobs").set({
      state: "queued",
      runner_id: null,
      runner_name: null,
      started_at: null,
      queued_at: scheduler.now(),
    }).where("id", "=", job.id).where("state", "=", "running")
      .where("generation", "=", job.generation);
    const run = await this.#runOf(job);
    const about = { ...job, state: "queued" as const, runner: null };
    await database.commit({
      statements: [statement(update, { mustChange: true }), leases.ending(lease)],
      events: [this.eventOf(project, run, about, SYSTEM)],
    });
    logs.ended(lease);
  }

  /** Begins, skips or ends what follows from the jobs of a run that have ended; then ends the run. */
  async #advance(project: Project, runId: string): Promise<void> {
    const { nextOfWorkflow } = this.#options;
    for (;;) {
      const jobs = newestAttempts(await this.store.jobsOf([runId]));
      const parts = [
        nextByNeeds(jobs.filter(({ kind }) => kind === "commands")),
        await nextOfWorkflow(jobs.filter(({ kind }) => kind === "workflow")),
      ].map((next) => ({
        ...next,
        cancel: next.cancel.filter(({ job }) => job.cancelReason === null),
      }));
      const run = await this.#runOf({ runId });
      for (const { job, why, passes = false } of parts.flatMap(({ skip }) => skip)) {
        await this.#end(project, job, { state: "skipped", summary: why, passes }, BY_MUSTER);
      }
      for (const { job, why } of parts.flatMap(({ fail }) => fail)) {
        await this.#end(project, job, { state: "error", summary: why }, BY_MUSTER);
      }
      for (const { job, why } of parts.flatMap(({ cancel }) => cancel)) {
        await this.#cancelJob(project, job, why, BY_MUSTER);
      }
      const start = parts.flatMap((part) => part.start);
      if (start.length > 0) await this.#queue(project, run, start);
      const hasEndedOthers = parts.some(({ skip, fail, cancel }) =>
        skip.length + fail.length + cancel.length > 0
      );
      if (hasEndedOthers) continue;
      if (jobs.every(hasEnded) && run.endedAt === null) await this.#endRun(runId);
      return;
    }
  }

  async #queue(project: Project, run: Run, jobs: readonly Job[]): Promise<void> {
    const { database, scheduler } = this.#options;
    await database.commit({
      statements: jobs.map(({ id }) =>
        statement(
          database.tables.updateTable("check_jobs")
            .set({ state: "queued", queued_at: scheduler.now() })
            .where("id", "=", id).where("state", "=", "waiting"),
          { mustChange: true },
        )
      ),
      events: jobs.map((job) => this.eventOf(project, run, { ...job, state: "queued" }, SYSTEM)),
    });
  }

  async #endRun(runId: string): Promise<void> {
    const { database, scheduler } = this.#options;
    const update = database.tables.updateTable("check_runs").set({ ended_at: scheduler.now() })
      .where("id", "=", runId).where("ended_at", "is", null);
    await database.commit({ statements: [statement(update)] });
  }

  /** Commits a change with reports, once more if somebody else reports the same context meanwhile. */
  async #commit(make: () => Promise<Change>): Promise<void> {
    for (let left = TRIES;; left--) {
      try {
        await this.#options.database.commit(await make());
        return;
      } catch (error) {
        if (left <= 1 || !isRaced(error)) throw error;
      }
    }
  }

  /**
   * Gives back the jobs whose leases have run out, and ends those that are out of time.
   *
   * @returns when the next one is due
   */
  async #endLost(): Promise<number> {
    const { leases, projects, repositories: { homes }, scheduler, log, runners } = this.#options;
    const held = await leases.inProjects((projectId) => homes.isHere({ id: projectId }));
    let next = Infinity;
    for (const lease of held) {
      const project = projects.get(lease.projectId)?.project;
      const now = scheduler.now();
      const isGone = runners.get(lease.runnerId) === null;
      const lostAt = isGone ? now : Math.max(lease.expiresAt, this.#graceUntil);
      if (project === undefined) continue;
      try {
        const dueAt = await this.#look(project, lease, lostAt);
        next = Math.min(next, dueAt);
      } catch (error) {
        log.warn("A lost job could not be given to another runner", { job: lease.jobId, error });
        next = Math.min(next, now + LEASE_MS);
      }
    }
    return next;
  }

  /** @returns when the job is due again */
  async #look(project: Project, lease: Lease, lostAt: number): Promise<number> {
    using _ = await this.#turns.acquire(project.id);
    const job = await this.store.job(lease.jobId);
    if (job?.state !== "running" || job.generation !== lease.generation) return Infinity;
    const now = this.#options.scheduler.now();
    const { spec: { timeoutSeconds }, startedAt, cancelledAt } = job;
    const timeAt = (startedAt ?? now) + timeoutSeconds * 1000 + GRACE_MS;
    if (lostAt <= now) {
      await this.#giveBack(project, job, lease, "Its lease ran out");
      return Infinity;
    }
    if (cancelledAt !== null && cancelledAt + GRACE_MS <= now) {
      const end = { state: "cancelled", summary: job.cancelReason ?? "Cancelled" } as const;
      await this.#end(project, job, end, BY_MUSTER, lease);
      await this.#advance(project, job.runId);
      return Infinity;
    }
    if (timeAt <= now) {
      const summary = `Ended after ${timeoutSeconds} seconds, which is its limit`;
      await this.#end(project, job, { state: "error", summary }, BY_MUSTER, lease);
      await this.#advance(project, job.runId);
      return Infinity;
    }
    return Math.min(lostAt, timeAt, cancelledAt === null ? Infinity : cancelledAt + GRACE_MS);
  }
}

/** Jobs of a context that an earlier one has are left out: each context is one check. */
function uniqueContexts(jobs: readonly PlannedJob[]): readonly PlannedJob[] {
  const seen = new Set<string>();
  return jobs.filter(({ context }) => !seen.has(context) && seen.add(context));
}

/** A job, and those that need it and have not passed. */
function withDependents(jobs: readonly Job[], context: string): readonly Job[] {
  const taken = new Set([context]);
  for (let size = 0; size < taken.size;) {
    size = taken.size;
    for (const job of jobs) {
      if (job.state !== "success" && job.needs.some((need) => taken.has(need))) {
        taken.add(job.context);
      }
    }
  }
  return jobs.filter((job) => taken.has(job.context));
}

/**
 * Who reports the check of a job: its runner, or this server.
 *
 * @param branch whose definition began it
 */
function reporterOf(
  runner: Job["runner"],
  { branch, counts }: Pick<Run, "branch"> & Pick<Job, "counts">,
): Actor {
  const name = runner === null ? "muster" : `runner ${runner.name}`;
  return counts
    ? { key: runnersOf(branch), name, kind: "runner" }
    : { key: `name:${name}`, name, kind: "name" };
}

function summaryOf(state: JobState, exitCode: number | null): string {
  if (state === "success") return "Passed";
  return exitCode === null ? "Failed" : `Failed with exit code ${exitCode}`;
}

function clipped(text: string): string {
  return text.length <= MAX_DESCRIPTION ? text : `${text.slice(0, MAX_DESCRIPTION - 1)}…`;
}

function isRaced(error: unknown): boolean {
  return error instanceof Duplicate || error instanceof Unchanged;
}
