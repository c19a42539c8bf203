import { Conflict, InsufficientStorage } from "../errors.ts";
import type { EventLog } from "../events/mod.ts";
import type { Log } from "../log.ts";
import type { Identity } from "../identity/mod.ts";
import type { Project, ProjectRepositories, Projects } from "../projects/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import { type LandingConditions, Moved } from "./landing_conditions.ts";
import type { LandingSteps } from "./landing_steps.ts";
import type { Landing, LandingStore } from "./landing_store.ts";

/** Most steps without a pause; the queue continues after {@link RETRY_MS}. */
const MAX_STEPS = 5000;

/** Landings at the head whose reviews are checked in each step. */
const LOOKED_AT = 20;

/** Pause before another attempt after a failure, in milliseconds. */
const RETRY_MS = 10_000;

/** Events after which a queue may advance. */
const EVENTS = [
  "project.status",
  "project.checkin",
  "project.tag",
  "project.review",
  "project.workspace",
  "project.protection_changed",
];

export interface LandingRunnerOptions {
  readonly projects: Pick<Projects, "get" | "settingsOf" | "onChanged">;
  readonly identity: Pick<Identity, "onEnded">;
  readonly repositories: ProjectRepositories;
  readonly store: LandingStore;
  readonly steps: LandingSteps;
  readonly conditions: LandingConditions;
  readonly eventLog: Pick<EventLog, "follow">;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly halts: LandingHalts;
}

/** Which agents are halted: their landings wait, and all of them while everybody is halted. */
export interface LandingHalts {
  readonly coversEverybody: boolean;
  reasonById(id: string | null): string | null;
  onChanged(listener: () => void): () => void;
}

/**
 * Advances the queues of every project step by step. Each step is decided from the database and the
 * repository alone, so a queue continues after a kill where it stopped.
 */
export class LandingRunner {
  readonly #options: LandingRunnerOptions;
  readonly #running = new Map<string, { again: boolean; readonly done: Promise<void> }>();
  readonly #timers = new Map<string, () => void>();
  #unfollow: () => void = () => {};
  readonly #unlisten = new DisposableStack();
  #isAsked = false;
  #isClosed = false;

  constructor(options: LandingRunnerOptions) {
    this.#options = options;
  }

  /**
   * Continues every queue, now and after each event that may advance one, or change of the rights of
   * those who asked for landings.
   */
  async start(): Promise<void> {
    const following = this.#options.eventLog.follow({ types: EVENTS }, {
      message: ({ data }) => {
        const { project_id: id } = data;
        if (typeof id === "string") this.advance(id);
        following.more();
      },
      end: () => {},
    });
    this.#unfollow = () => following.close();
    following.more();
    const { halts, identity, projects, repositories } = this.#options;
    this.#unlisten.defer(halts.onChanged(() => this.#askAll()));
    this.#unlisten.defer(identity.onEnded(() => this.#askAll()));
    projects.onChanged(() => this.#askAll());
    repositories.homes.onChanged(({ id }, isHere) => {
      if (isHere) this.advance(id);
    });
    await this.#advanceAll();
  }

  /** Stops after the running steps. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unfollow();
    this.#unlisten.dispose();
    for (const cancel of this.#timers.values()) cancel();
    await Promise.all(Array.from(this.#running.values(), ({ done }) => done));
  }

  /** Advances the queues of a project in the background, unless that is already running. */
  advance(id: string): void {
    if (this.#isClosed || !this.#options.repositories.homes.isHere({ id })) return;
    const running = this.#running.get(id);
    if (running !== undefined) {
      running.again = true;
      return;
    }
    const state = { again: false, done: Promise.resolve() };
    state.done = this.#run(id, state).finally(() => {
      this.#running.delete(id);
      if (state.again) this.advance(id);
    });
    this.#running.set(id, state);
  }

  /** Advances every queue once what has begun is done: many projects may change at the same time. */
  #askAll(): void {
    if (this.#isAsked || this.#isClosed) return;
    this.#isAsked = true;
    queueMicrotask(() => {
      this.#isAsked = false;
      void this.#advanceAll();
    });
  }

  async #advanceAll(): Promise<void> {
    const { store, log } = this.#options;
    try {
      for (const id of await store.projects()) this.advance(id);
    } catch (error) {
      log.warn("The landing queues cannot be read", { error });
    }
  }

  /** Whether a landing waits because an agent behind it is halted. */
  #isHeld({ queuedBy, askedBy }: Landing): boolean {
    const { halts } = this.#options;
    return halts.coversEverybody || halts.reasonById(queuedBy.key) !== null ||
      halts.reasonById(askedBy?.id ?? null) !== null;
  }

  async #run(id: string, state: { again: boolean }): Promise<void> {
    const { projects, log } = this.#options;
    this.#timers.get(id)?.();
    this.#timers.delete(id);
    try {
      for (let left = MAX_STEPS; !this.#isClosed; left--) {
        const project = projects.get(id)?.project ?? null;
        if (project === null || project.archivedAt !== null) return;
        state.again = false;
        if (left === 0) return this.#later(id, RETRY_MS);
        const isMoved = await this.#step(project);
        if (!isMoved && !state.again) return;
      }
    } catch (error) {
      log.warn("A landing queue failed and will be tried again", { project: id, error });
      this.#later(id, RETRY_MS);
    }
  }

  #later(id: string, milliseconds: number): void {
    if (this.#isClosed) return;
    this.#timers.get(id)?.();
    this.#timers.set(
      id,
      this.#options.scheduler.after(milliseconds, () => {
        this.#timers.delete(id);
        this.advance(id);
      }),
    );
  }

  /** Takes the next step in a project; false if there is none. */
  async #step(project: Project): Promise<boolean> {
    const { store, steps, conditions, projects } = this.#options;
    const { depth } = projects.settingsOf(project.id).landing;
    const all = await store.open(project.id);
    const open = all.filter((landing) => !this.#isHeld(landing));
    for (const landing of open.slice(0, Math.max(depth, LOOKED_AT))) {
      const reason = await conditions.objection(project, landing);
      if (reason !== null) {
        await steps.giveBack(project, landing, reason);
        return true;
      }
    }
    const queues = Map.groupBy(all, ({ targetBranch }) => targetBranch);
    for (const [branch, queue] of queues) {
      const held = queue.findIndex((landing) => this.#isHeld(landing));
      const moving = held < 0 ? queue : queue.slice(0, held);
      if (moving.length > 0 && await this.#stepOf(project, branch, moving)) return true;
    }
    this.#wakeAtDeadline(project.id, open);
    return false;
  }

  /** Takes the next step in one queue; false if there is none. */
  async #stepOf(project: Project, branch: string, queue: readonly Landing[]): Promise<boolean> {
    const { repositories, steps, conditions, projects } = this.#options;
    const { depth } = projects.settingsOf(project.id).landing;
    const target = await repositories.read(project, (it) => it.branchTip(branch));
    if (target === null) {
      const [first] = queue;
      if (first === undefined) return false;
      const message = `There is no open branch "${branch}"`;
      await steps.giveBack(project, first, { message });
      return true;
    }
    let base = target;
    for (const [index, landing] of queue.slice(0, depth).entries()) {
      if (landing.status !== "testing" || landing.base !== base || landing.candidate === null) {
        await this.#build(project, landing, { base, target });
        return true;
      }
      const { isPassed, reason } = await conditions.outcome(project, landing);
      if (reason !== null) {
        await steps.giveBack(project, landing, reason);
        return true;
      }
      if (isPassed && index === 0) {
        await this.#land(project, landing);
        return true;
      }
      base = landing.candidate;
    }
    return false;
  }

  /** Makes the candidate of a landing, or gives the landing back. */
  async #build(
    project: Project,
    landing: Landing,
    { base, target }: { readonly base: string; readonly target: string },
  ): Promise<void> {
    const { repositories, steps, conditions } = this.#options;
    const check = async () => {
      if (this.#isHeld(landing)) throw new Moved();
      await conditions.requireRight(project, landing);
      const { targetBranch: branch } = landing;
      const tip = await repositories.read(project, (it) => it.branchTip(branch));
      if (tip !== target) throw new Moved();
    };
    try {
      const reason = await steps.build(project, landing, { base, check });
      if (reason !== null) await steps.giveBack(project, landing, reason);
    } catch (error) {
      if (error instanceof Moved) return;
      if (!(error instanceof Conflict || error instanceof InsufficientStorage)) throw error;
      await steps.giveBack(project, landing, { message: error.message });
    }
  }

  /**
   * Lands the tested candidate, unless something has changed; then the next step reads the state
   * again.
   */
  async #land(project: Project, landing: Landing): Promise<void> {
    const { repositories, steps, conditions } = this.#options;
    const check = async () => {
      if (this.#isHeld(landing)) throw new Moved();
      await conditions.requireRight(project, landing);
      if (!(await conditions.outcome(project, landing)).isPassed) throw new Moved();
    };
    try {
      await steps.land(project, landing, check);
    } catch (error) {
      if (error instanceof Moved) return;
      if (error instanceof InsufficientStorage) {
        return await steps.giveBack(project, landing, { message: error.message });
      }
      if (!(error instanceof Conflict)) throw error;
      const { targetBranch: branch, base } = landing;
      const tip = await repositories.read(project, (it) => it.branchTip(branch));
      if (tip === base) await steps.giveBack(project, landing, { message: error.message });
    }
  }

  #wakeAtDeadline(id: string, open: readonly Landing[]): void {
    const { conditions, scheduler } = this.#options;
    const deadlines = open.filter(({ testingSince }) => testingSince !== null)
      .map((landing) => conditions.deadlineOf(landing));
    if (deadlines.length === 0) return;
    this.#later(id, Math.max(Math.min(...deadlines) - scheduler.now(), 1));
  }
}
