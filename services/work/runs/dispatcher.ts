import { type Database, Unchanged } from "../../engines/database/mod.ts";
import type { EventLog, Following } from "../../engines/events/mod.ts";
import type { EarlyEnd } from "../../kernel/early_end.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { Sweep } from "../../kernel/sweep.ts";
import { type Caller, originOf } from "../../people/identity/mod.ts";
import type { Project, Projects } from "../projects/mod.ts";
import {
  type Lease,
  LEASE_MS,
  leaseGone,
  type Leases,
  type Runner,
  type Runners,
} from "../runners/mod.ts";
import type { Assignment, Isolation, LeaseRequest, Renewal } from "./assignment.ts";
import type { Job, Run } from "./records.ts";
import type { Runs } from "./runs.ts";
import type { CheckSecrets } from "./secrets.ts";
import type { Needed } from "./store.ts";

/** Jobs that are looked at in one round. */
const LOOKED_AT = 200;

/** Most output of a job, in MB. */
const OUTPUT_MB = 100;

export interface DispatcherOptions {
  readonly database: Database;
  readonly projects: Pick<Projects, "get" | "halts">;
  readonly runs: Pick<Runs, "store" | "eventOf" | "expectLease">;
  readonly runners: Runners;
  readonly leases: Leases;
  readonly secrets: Pick<CheckSecrets, "of">;
  readonly eventLog: Pick<EventLog, "follow">;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** A job that a runner has got. */
export interface LeasedJob {
  readonly job: Job;
  readonly run: Run;
  readonly project: Project;
  readonly lease: Lease;
  /** Of the job. */
  readonly token: string;
  readonly secrets: Readonly<Record<string, string>>;
}

/** What a runner asks for. */
export interface Asked extends Pick<LeaseRequest, "isolation"> {
  readonly kinds: readonly Job["kind"][];
  /** Milliseconds. */
  readonly wait: number;
}

/** A runner that waits for a job. */
interface Waiting {
  readonly asked: Asked;
  readonly caller: Caller;
  /** Whether a lease is being made for it: it waits for that, even if its time is up. */
  isGiven: boolean;
  isOver: boolean;
  take(leased: LeasedJob | null): void;
}

/**
 * Gives jobs to runners that wait, and tells runners of cancelled jobs. Events wake it, on every node of
 * a cluster, so nobody polls. The node that changes the row of a job first gives it to its runner.
 * Projects take turns.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #waiting = new Set<Waiting>();
  readonly #sweep: Sweep;
  /** By job: those that wait for its cancellation. */
  readonly #watched = new Map<string, Set<() => void>>();
  /** By project: the place of its last job among all that were given here. */
  readonly #turns = new Map<string, number>();
  #given = 0;
  #following: Following | null = null;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#sweep = new Sweep({
      log: options.log,
      name: "give jobs to runners",
      task: () => this.#dispatch(),
    });
  }

  start(): void {
    const { eventLog, runners, runs } = this.#options;
    runners.onChanged(() => this.#sweep.start());
    const following = this.#following = eventLog.follow({ types: ["project.job"] }, {
      message: ({ data }) => {
        const { job, state, cancelled } = data;
        if (state === "running" && cancelled === null) runs.expectLease();
        else if (this.#waiting.size > 0) this.#sweep.start();
        if (typeof job === "string") this.#watched.get(job)?.forEach((wake) => wake());
        following.more();
      },
      end: () => {},
    });
    following.more();
  }

  async close(): Promise<void> {
    this.#following?.close();
    for (const { take } of [...this.#waiting]) take(null);
    await this.#sweep.idle();
  }

  /** Gives a runner the next job that it can run; null if none comes in time. */
  async lease(caller: Caller, asked: Asked, end: EarlyEnd): Promise<LeasedJob | null> {
    if (end.isOver) return null;
    const { promise, resolve } = Promise.withResolvers<LeasedJob | null>();
    const waiting: Waiting = {
      asked,
      caller,
      isGiven: false,
      isOver: false,
      take: (leased) => {
        this.#waiting.delete(waiting);
        resolve(leased);
      },
    };
    const giveUp = () => {
      waiting.isOver = true;
      if (!waiting.isGiven) waiting.take(null);
    };
    this.#waiting.add(waiting);
    end.onEnd = giveUp;
    this.#sweep.start();
    if (asked.wait === 0) {
      await this.#sweep.idle();
      if (this.#waiting.has(waiting)) waiting.take(null);
      return await promise;
    }
    const cancel = this.#options.scheduler.after(asked.wait, giveUp);
    try {
      return await promise;
    } finally {
      cancel();
    }
  }

  /**
   * Renews a lease, and waits until its job is cancelled.
   *
   * @param wait milliseconds
   * @throws Conflict if the lease has ended
   */
  async renew(lease: Lease, wait: number, end: EarlyEnd): Promise<Renewal> {
    const { runs: { store }, leases, scheduler } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    const watchers = this.#watched.get(lease.jobId) ?? new Set();
    this.#watched.set(lease.jobId, watchers.add(resolve));
    const cancel = scheduler.after(wait, resolve);
    end.onEnd = resolve;
    try {
      const expiresAt = await leases.renew(lease);
      let job = await store.job(lease.jobId);
      if (job?.cancelReason === null && wait > 0) {
        await promise;
        job = await store.job(lease.jobId);
      }
      const isOurs = job?.state === "running" && job.generation === lease.generation;
      if (job === null || !isOurs) throw leaseGone();
      const expires_in = Math.max(0, Math.floor((expiresAt - scheduler.now()) / 1000));
      const { cancelReason: reason } = job;
      return reason === null
        ? { cancelled: false, expires_in }
        : { cancelled: true, reason, expires_in };
    } finally {
      cancel();
      watchers.delete(resolve);
      if (watchers.size === 0) this.#watched.delete(lease.jobId);
    }
  }

  async #dispatch(): Promise<void> {
    const { runs: { store } } = this.#options;
    while (this.#waiting.size > 0) {
      const needed = (await store.needed()).filter((one) => this.#takerOf(one) !== undefined);
      const jobs = await store.queued(needed, LOOKED_AT);
      let given = 0;
      for (const job of this.#inTurns(jobs)) {
        const taker = this.#takerOf(job, ({ asked }) => keepsApart(job, asked.isolation));
        if (taker !== undefined && await this.#give(job, taker)) given++;
        if (this.#waiting.size === 0) return;
      }
      if (given === 0 || jobs.length < LOOKED_AT) return;
    }
  }

  /** First those of the projects whose last turn was the longest ago. */
  #inTurns(jobs: readonly Job[]): readonly Job[] {
    const counts = new Map<string, number>();
    return jobs.map((job) => {
      const place = counts.get(job.projectId) ?? 0;
      counts.set(job.projectId, place + 1);
      return { job, place, turn: this.#turns.get(job.projectId) ?? 0 };
    }).sort((one, other) => one.place - other.place || one.turn - other.turn)
      .map(({ job }) => job);
  }

  /** A runner that waits and may take a job. */
  #takerOf(job: Needed, also: (waiting: Waiting) => boolean = () => true): Waiting | undefined {
    if (!this.#isOpen(job)) return undefined;
    return this.#waiting.values().find((waiting) => {
      const { asked, caller, isOver } = waiting;
      const runner = this.#options.runners.get(caller.principal.id ?? "");
      return !isOver && runner !== null && asked.kinds.includes(job.kind) &&
        canRun(runner, job) && also(waiting);
    });
  }

  #isOpen({ projectId }: Needed): boolean {
    const held = this.#options.projects.get(projectId);
    return held !== null && held.project.archivedAt === null;
  }

  /** @returns whether the runner got the job */
  async #give(job: Job, waiting: Waiting): Promise<boolean> {
    waiting.isGiven = true;
    try {
      const leased = await this.#lease(job, waiting);
      if (leased === null) return false;
      this.#turns.set(job.projectId, ++this.#given);
      waiting.take(leased);
      return true;
    } finally {
      waiting.isGiven = false;
      if (waiting.isOver) waiting.take(null);
    }
  }

  /** @returns null if the job is not to be had any more */
  async #lease(job: Job, { caller }: Waiting): Promise<LeasedJob | null> {
    const { database, runners, runs, leases, secrets, scheduler, projects } = this.#options;
    const runner = runners.get(caller.principal.id ?? "");
    const project = projects.get(job.projectId)?.project;
    const run = await runs.store.get(job.runId);
    if (runner === null || project === undefined || run === null) return null;
    const generation = job.generation + 1;
    const { lease, token, statement: begins } = await leases.begin({
      jobId: job.id,
      projectId: job.projectId,
      runnerId: runner.id,
      generation,
    });
    const now = scheduler.now();
    const leased: Job = {
      ...job,
      state: "running",
      generation,
      runner: { id: runner.id, name: runner.name },
      startedAt: now,
    };
    const given = run.isTrusted ? await secrets.of(project, job) : {};
    try {
      await database.commit({
        statements: [runs.store.leasing(job, runner, now), begins],
        events: [runs.eventOf(project, run, leased, originOf(caller))],
      });
    } catch (error) {
      if (error instanceof Unchanged) return null;
      throw error;
    }
    runs.expectLease();
    return { job: leased, run, project, lease, token, secrets: given };
  }
}

/** Whether a runner may take a job, and has what it names. */
export function canRun(runner: Runner, job: Pick<Job, "projectId" | "labels">): boolean {
  return !runner.isPaused && (runner.projects?.has(job.projectId) ?? true) &&
    job.labels.every((label) => runner.labels.has(label));
}

/** An image needs a container; without one, the runner's owner has decided what is enough. */
function keepsApart({ spec: { image }, kind }: Job, isolation: readonly Isolation[]): boolean {
  if (image === null || kind === "workflow") return true;
  return isolation.some((one) => one === "podman" || one === "docker");
}

/** A leased job as its runner gets it. */
export function assignmentOf(
  { job, run, project, lease, token, secrets }: LeasedJob,
  scm: string,
): Assignment {
  const { spec } = job;
  return {
    id: job.id,
    generation: lease.generation,
    project: project.slug,
    checkin: job.checkin,
    name: job.context,
    attempt: job.attempt,
    run: String(run.number),
    cause: run.cause,
    branch: run.branch,
    archive: `/projects/${project.slug}/${scm}/api/archive/${job.checkin}.tar.gz`,
    token,
    commands: [...spec.commands],
    shell: spec.shell,
    timeout_seconds: spec.timeoutSeconds,
    network: spec.network,
    image: spec.image,
    env: { ...spec.env },
    secrets: { ...secrets },
    limits: {
      memory_mb: spec.limits.memoryMb,
      processes: spec.limits.processes,
      disk_mb: spec.limits.diskMb,
      output_mb: OUTPUT_MB,
    },
    artifacts: [...spec.artifacts],
    cache: spec.cache === null ? null : { key: spec.cache.key, paths: [...spec.cache.paths] },
    lease_seconds: LEASE_MS / 1000,
  };
}
