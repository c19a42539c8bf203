import type { Database } from "../../engines/database/mod.ts";
import { type EventLog, LastingFollowing, type LoggedEvent } from "../../engines/events/mod.ts";
import { Conflict, NotFound, Unavailable } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { inBackground } from "../../kernel/sweep.ts";
import type { Project, ProjectRepositories, Projects } from "../projects/mod.ts";
import { type Protection, pushRefusal } from "../protection/mod.ts";
import type { ReviewStore } from "../reviews/mod.ts";
import { isPassing } from "../workspaces/mod.ts";
import type { JobSource, Trigger } from "./planning.ts";
import type { Runs } from "./runs.ts";

/** Events that may begin or end runs. */
const EVENTS = ["project.review", "project.landing", "project.checkin", "project.tag"] as const;

export interface TriggersOptions {
  readonly database: Database;
  readonly eventLog: EventLog;
  readonly projects: Pick<Projects, "get" | "all" | "halts" | "onChanged">;
  readonly repositories: Pick<ProjectRepositories, "read" | "homes" | "mainBranches">;
  readonly reviews: ReviewStore;
  readonly protection: Pick<Protection, "ruleOf">;
  readonly sources: readonly Pick<JobSource, "cronOf">[];
  readonly runs: Pick<Runs, "begin" | "abandon" | "cancelHalted">;
  readonly halts: { onChanged(listener: () => void): () => void };
  readonly scheduler: Scheduler;
  readonly log: Log;
}

type Asker = Trigger["askedBy"];

const MUSTER: Asker = { key: null, name: "muster" };

/** Begins the runs of the projects on this node: after events, and when a time of cron comes. */
export class Triggers {
  readonly #options: TriggersOptions;
  readonly #following: LastingFollowing;
  readonly #unlisten = new DisposableStack();
  /** By project: what ends the wait for its next time of cron. */
  readonly #timers = new Map<string, () => void>();
  /** What runs without being waited for. */
  readonly #running = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: TriggersOptions) {
    this.#options = options;
    this.#following = new LastingFollowing({
      ...options,
      name: options.repositories.homes.nameOf("checks"),
      types: EVENTS,
      take: (events) => this.#take(events),
    });
  }

  /** Continues where the previous process ended. */
  async start(): Promise<void> {
    const { halts, projects, repositories: { homes } } = this.#options;
    await this.#following.start();
    this.#unlisten.defer(halts.onChanged(() => {
      this.#begin("end the jobs of halted agents", () => this.#cancelHalted());
    }));
    homes.onChanged((project, isHere) => {
      if (isHere) this.#plan(project);
      else this.#unplan(project.id);
    });
    projects.onChanged((id, held) => {
      if (held === null || held.project.archivedAt !== null) this.#unplan(id);
    });
    this.#begin("plan checks by time", () => this.#planAll());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unlisten.dispose();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    await this.#following.close();
    await Promise.all(this.#running);
  }

  /** Resolves when all events so far are handled; for tests. */
  idle(): Promise<void> {
    return this.#following.idle();
  }

  async #take(events: readonly LoggedEvent[]): Promise<null> {
    const { projects, repositories: { homes }, log } = this.#options;
    for (const event of events) {
      const id = event.data["project_id"];
      const project = typeof id === "string" ? projects.get(id)?.project : undefined;
      if (project === undefined || !homes.isHere(project) || project.archivedAt !== null) continue;
      try {
        await this.#handle(project, event);
      } catch (error) {
        // A project that was removed meanwhile has no checks.
        if (projects.get(project.id) === null) continue;
        if (error instanceof Unavailable) throw error;
        // What the event is about may be gone; a single event must not block the others.
        const isExpected = error instanceof NotFound || error instanceof Conflict;
        log[isExpected ? "info" : "error"]("No checks were begun", { seq: event.seq, error });
      }
    }
    return null;
  }

  async #handle(project: Project, event: LoggedEvent): Promise<void> {
    const { data } = event;
    switch (event.type) {
      case "project.review":
        return await this.#ofReview(project, Number(data["id"]), String(data["action"]), event);
      case "project.landing":
        return await this.#ofLanding(project, data, event);
      case "project.checkin":
        return await this.#ofCheckin(project, data, event);
    }
  }

  async #ofReview(
    project: Project,
    number: number,
    action: string,
    event: LoggedEvent,
  ): Promise<void> {
    const { reviews, runs } = this.#options;
    const subject = `review ${number}`;
    if (action === "merged" || action === "closed") {
      return await runs.abandon(project, subject, `The review was ${action}`);
    }
    if (action !== "created" && action !== "round") return;
    const review = await reviews.find(project.id, number);
    if (review === null || review.workspace === null) return;
    if (review.status === "merged" || review.status === "closed") return;
    const round = await reviews.newestRound(review);
    if (round === null) return;
    await runs.begin(project, {
      cause: "review",
      causeKey: `review ${number} round ${round.round}`,
      subject,
      review: number,
      checkin: round.tip,
      branch: review.targetBranch,
      isTrusted: false,
      askedBy: askerOf(event),
    });
  }

  async #ofLanding(
    project: Project,
    data: LoggedEvent["data"],
    event: LoggedEvent,
  ): Promise<void> {
    const { runs } = this.#options;
    const { review, status, candidate, target_branch: branch } = data;
    const subject = `landing ${Number(review)}`;
    if (status === "landed" || status === "returned") {
      return await runs.abandon(project, subject, `The landing has ${status}`);
    }
    if (status !== "testing" || typeof candidate !== "string") return;
    await runs.begin(project, {
      cause: "landing",
      causeKey: `landing ${candidate}`,
      subject,
      review: Number(review),
      checkin: candidate,
      branch: String(branch),
      isTrusted: false,
      askedBy: askerOf(event),
    });
  }

  async #ofCheckin(
    project: Project,
    { branch: named, uuid }: LoggedEvent["data"],
    event: LoggedEvent,
  ): Promise<void> {
    const { runs, protection, repositories } = this.#options;
    const branch = String(named);
    if (isPassing(branch)) return;
    const tip = await repositories.read(project, (it) => it.branchTip(branch));
    // A push may bring many; its last one is tested.
    if (tip === null || tip !== uuid) return;
    if (branch === await repositories.mainBranches.of(project)) await this.#planNext(project);
    await runs.begin(project, {
      cause: "push",
      causeKey: `push ${tip} ${branch}`,
      subject: null,
      review: null,
      checkin: tip,
      branch,
      isTrusted: isProtected(protection, project, branch),
      askedBy: askerOf(event),
    });
  }

  /** Begins work that nobody waits for but the end. */
  #begin(name: string, work: () => Promise<void>): void {
    if (this.#isClosed) return;
    const running = inBackground(this.#options.log, name, work);
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  async #cancelHalted(): Promise<void> {
    const { projects, repositories: { homes }, runs } = this.#options;
    const { halts } = projects;
    for (const { project } of projects.all()) {
      if (!homes.isHere(project)) continue;
      await runs.cancelHalted(project, (id) => halts.reasonById(id));
    }
  }

  async #planAll(): Promise<void> {
    const { projects, repositories: { homes } } = this.#options;
    for (const { project } of projects.all()) {
      if (this.#isClosed) return;
      if (homes.isHere(project) && project.archivedAt === null) await this.#planNext(project);
    }
  }

  #plan(project: Project): void {
    this.#begin("plan checks by time", () => this.#planNext(project));
  }

  #unplan(id: string): void {
    this.#timers.get(id)?.();
    this.#timers.delete(id);
  }

  /** Waits for the next time of cron of a project's main branch. */
  async #planNext(project: Project): Promise<void> {
    const { sources, scheduler } = this.#options;
    const times = new Set(
      (await Promise.all(sources.map((source) => source.cronOf(project)))).flat(),
    );
    this.#unplan(project.id);
    if (this.#isClosed || times.size === 0) return;
    const { Cron } = await import("croner");
    const now = new Date(scheduler.now());
    const next = [...times].flatMap((cron) => {
      const at = new Cron(cron, { paused: true, timezone: "UTC" }).nextRun(now)?.getTime();
      return at === undefined ? [] : [{ cron, at }];
    });
    const first = Math.min(...next.map(({ at }) => at));
    if (first === Infinity) return;
    const due = next.filter(({ at }) => at === first);
    this.#timers.set(project.id, this.#after(first, () => this.#beginDue(project.id, due)));
  }

  /** As the scheduler does, also after more than the longest wait of a timer. */
  #after(at: number, task: () => void): () => void {
    const { scheduler } = this.#options;
    const MOST = 24 * 60 * 60_000;
    let cancel = () => {};
    const wait = () => {
      const left = at - scheduler.now();
      cancel = scheduler.after(Math.min(Math.max(left, 0), MOST), left > MOST ? wait : task);
    };
    wait();
    return () => cancel();
  }

  #beginDue(id: string, due: readonly { readonly cron: string; readonly at: number }[]): void {
    const { projects, repositories, protection, runs } = this.#options;
    const project = projects.get(id)?.project;
    if (project === undefined || project.archivedAt !== null || this.#isClosed) return;
    this.#begin("begin checks by time", async () => {
      try {
        const branch = await repositories.mainBranches.of(project);
        const checkin = await repositories.read(project, (it) => it.branchTip(branch));
        if (checkin === null) return;
        for (const { cron, at } of due) {
          await runs.begin(project, {
            cause: "cron",
            causeKey: `cron ${cron} ${at}`,
            subject: null,
            review: null,
            checkin,
            branch,
            isTrusted: isProtected(protection, project, branch),
            askedBy: MUSTER,
            cron,
          });
        }
      } finally {
        await this.#planNext(project);
      }
    });
  }
}

/** Whether a branch takes only what has met its rules, and no pushes: only such code gets secrets. */
export function isProtected(
  protection: Pick<Protection, "ruleOf">,
  project: Project,
  branch: string,
): boolean {
  return pushRefusal(protection.ruleOf(project, branch), false) !== null;
}

/** Who caused an event. */
function askerOf({ actor, actor_id: key }: LoggedEvent): Asker {
  const [, name = actor] = /^[a-z]+:(.+)$/s.exec(actor) ?? [];
  return { key, name };
}
