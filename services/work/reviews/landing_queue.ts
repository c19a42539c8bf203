import { monotonicFactory } from "ulid";
import type { Database, Statement } from "../../engines/database/mod.ts";
import { Conflict, Forbidden, InsufficientStorage, NotFound } from "../../kernel/errors.ts";
import type { EventLog } from "../../engines/events/mod.ts";
import {
  type AccountDirectory,
  type Identity,
  originOf,
  type Tokens,
} from "../../people/identity/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Project, ProjectRepositories, Projects } from "../projects/mod.ts";
import type { Protection, RequiredCheck } from "../protection/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Claims } from "../tickets/mod.ts";
import type { Workspaces } from "../workspaces/mod.ts";
import { LandingConditions, Moved } from "./landing_conditions.ts";
import { LandingSteps } from "./landing_steps.ts";
import { type Landing, LandingStore } from "./landing_store.ts";
import type { ReviewMerges } from "./merges.ts";
import type { ReviewRequest } from "./records.ts";
import type { Reviews } from "./reviews.ts";

/** Most waiting reviews of one project. */
const MAX_QUEUED = 1000;

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

export interface LandingQueueOptions {
  readonly database: Database;
  readonly projects: Pick<Projects, "get" | "settingsOf" | "onChanged">;
  readonly repositories: ProjectRepositories;
  readonly accounts: Pick<AccountDirectory, "get">;
  readonly tokens: Pick<Tokens, "today">;
  readonly identity: Pick<Identity, "onEnded">;
  readonly reviews: Reviews;
  readonly merges: Pick<ReviewMerges, "judge">;
  readonly workspaces: Pick<Workspaces, "merged" | "get">;
  readonly claims: Pick<Claims, "fence">;
  readonly protection: Pick<Protection, "judge" | "require" | "requiredChecks" | "ruleOf">;
  readonly eventLog: Pick<EventLog, "follow">;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly halts: LandingHalts;
}

/** Which agents are halted: their landings wait, and all of them while everybody is halted. */
interface LandingHalts {
  readonly coversEverybody: boolean;
  reasonById(id: string | null): string | null;
  onChanged(listener: () => void): () => void;
  extend(part: (isHalted: (id: string) => boolean, now: number) => readonly Statement[]): void;
}

/** A landing with its place in the queue. */
export interface QueuedLanding {
  readonly landing: Landing;
  /** From 1; null if the landing has ended. */
  readonly position: number | null;
  /** The required checks of a candidate under test; otherwise none. */
  readonly checks: readonly RequiredCheck[];
}

/**
 * The landing queue: approved reviews land on their target branch one after the other, each as
 * exactly the check-in that was tested. Each step is decided from the database and the repository
 * alone, so that the queue continues after a kill where it stopped.
 */
export class LandingQueue {
  readonly store: LandingStore;
  readonly #options: LandingQueueOptions;
  readonly #steps: LandingSteps;
  readonly #conditions: LandingConditions;
  /** Monotonic within a millisecond: the queue is ordered by id. */
  readonly #newId = monotonicFactory();
  /** The projects whose queues are advanced now, by their ids. */
  readonly #running = new Map<string, { again: boolean; readonly done: Promise<void> }>();
  readonly #timers = new Map<string, () => void>();
  #unfollow: () => void = () => {};
  readonly #unlisten = new DisposableStack();
  #isAsked = false;
  #isClosed = false;

  constructor(options: LandingQueueOptions) {
    this.#options = options;
    this.store = new LandingStore(options.database);
    const parts = { ...options, store: this.store };
    this.#steps = new LandingSteps(parts);
    this.#conditions = new LandingConditions(parts);
    options.halts.extend((_, now) => [this.store.restarting(now)]);
  }

  /**
   * Continues every queue, now and after each event that may advance one, or change of the rights of
   * those who asked for landings.
   */
  async start(): Promise<void> {
    const following = this.#options.eventLog.follow({ types: EVENTS }, {
      message: ({ data }) => {
        const { project_id: id } = data;
        if (typeof id === "string") this.#advance(id);
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
      if (isHere) this.#advance(id);
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

  /**
   * Adds an approved review to the queue of its target branch. A queued review keeps its place.
   *
   * @throws NotFound, Conflict; Forbidden if the branch's rule forbids it
   */
  async land(
    project: Project,
    number: number,
    { caller, actor, isAdmin, generation }: ReviewRequest,
  ): Promise<Omit<QueuedLanding, "checks">> {
    const { database, repositories, reviews, protection, scheduler } = this.#options;
    await repositories.catchUp(project);
    const landing = await repositories.exclusively(project, caller, async () => {
      const review = await reviews.require(project, number);
      const waiting = await this.store.openOf(review.id);
      if (waiting !== null) return waiting;
      if (review.workspace === null) throw new Conflict("Only a review of a workspace can land");
      const { isApproved, standing, changesChecks } = await this.#conditions.judge(
        project,
        review.id,
      );
      if (review.status === "merged") throw new Conflict("Review is already merged");
      if (!isApproved) throw new Conflict("Review must be approved before landing");
      const { targetBranch: branch } = review;
      await this.#conditions.fence(project, review, { actor, generation });
      const question = { project, branch, isAdmin, tip: standing.tip, review: standing };
      await protection.require({ ...question, changesChecks, action: "queue" });
      await this.#conditions.requireNews(project, {
        reviewId: review.id,
        tip: standing.tip,
        branch,
      });
      if ((await this.store.open(project.id)).length >= MAX_QUEUED) {
        throw new Conflict(`At most ${MAX_QUEUED} reviews can wait in a project's queue`);
      }
      const now = scheduler.now();
      const queued: Landing = {
        id: this.#newId(now),
        projectId: project.id,
        reviewId: review.id,
        review: number,
        title: review.title,
        author: review.author.name,
        targetBranch: branch,
        tip: standing.tip,
        status: "queued",
        base: null,
        candidate: null,
        reason: null,
        queuedBy: { key: actor.key, name: actor.name },
        askedBy: caller.principal,
        queuedAt: now,
        testingSince: null,
        endedAt: null,
      };
      await database.commit(
        this.store.queued(project, queued, { origin: originOf(caller), now }),
      );
      return queued;
    });
    const { position } = (await this.list(project)).find((one) => one.landing.id === landing.id) ??
      { position: null };
    this.#advance(project.id);
    return { landing, position };
  }

  /**
   * Takes a review out of the queue. Its author, the actor who queued it, and admins may do this.
   *
   * @throws NotFound, Forbidden; Conflict if the author's claim has ended
   */
  async withdraw(
    project: Project,
    number: number,
    { caller, actor, isAdmin, generation }: ReviewRequest,
  ): Promise<void> {
    const review = await this.#options.reviews.require(project, number);
    const landing = await this.store.openOf(review.id);
    if (landing === null) throw new NotFound("The review is not in the landing queue");
    if (![review.author.key, landing.queuedBy.key].includes(actor.key) && !isAdmin) {
      throw new Forbidden(
        "Only a review's author, the agent that queued it and admins can take it out of the queue",
      );
    }
    if (actor.key === review.author.key) {
      await this.#conditions.fence(project, review, { actor, generation });
    }
    await this.#steps.giveBack(project, landing, {
      message: `${actor.name} took it out of the queue`,
    }, caller);
    this.#advance(project.id);
  }

  /** The queues of a project, in their order, then the latest ended landings. */
  async list(project: Project): Promise<readonly QueuedLanding[]> {
    const ahead = new Map<string, number>();
    const open: QueuedLanding[] = [];
    for (const landing of await this.store.open(project.id)) {
      const position = (ahead.get(landing.targetBranch) ?? 0) + 1;
      ahead.set(landing.targetBranch, position);
      open.push({ landing, position, checks: await this.#conditions.checksOf(project, landing) });
    }
    const ended = (await this.store.ended(project.id))
      .map((landing) => ({ landing, position: null, checks: [] }));
    return [...open, ...ended];
  }

  /** Advances the queues of a project in the background, unless that is already running. */
  #advance(id: string): void {
    if (this.#isClosed || !this.#options.repositories.homes.isHere({ id })) return;
    const running = this.#running.get(id);
    if (running !== undefined) {
      running.again = true;
      return;
    }
    const state = { again: false, done: Promise.resolve() };
    state.done = this.#run(id, state).finally(() => {
      this.#running.delete(id);
      if (state.again) this.#advance(id);
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
    const { log } = this.#options;
    try {
      for (const id of await this.store.projects()) this.#advance(id);
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
        this.#advance(id);
      }),
    );
  }

  /** Takes the next step in a project; false if there is none. */
  async #step(project: Project): Promise<boolean> {
    const { projects } = this.#options;
    const { depth } = projects.settingsOf(project.id).landing;
    const all = await this.store.open(project.id);
    const open = all.filter((landing) => !this.#isHeld(landing));
    for (const landing of open.slice(0, Math.max(depth, LOOKED_AT))) {
      const reason = await this.#conditions.objection(project, landing);
      if (reason !== null) {
        await this.#steps.giveBack(project, landing, reason);
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
    const { repositories, projects } = this.#options;
    const { depth } = projects.settingsOf(project.id).landing;
    const target = await repositories.read(project, (it) => it.branchTip(branch));
    if (target === null) {
      const [first] = queue;
      if (first === undefined) return false;
      const message = `There is no open branch "${branch}"`;
      await this.#steps.giveBack(project, first, { message });
      return true;
    }
    let base = target;
    for (const [index, landing] of queue.slice(0, depth).entries()) {
      if (landing.status !== "testing" || landing.base !== base || landing.candidate === null) {
        await this.#build(project, landing, { base, target });
        return true;
      }
      const { isPassed, reason } = await this.#conditions.outcome(project, landing);
      if (reason !== null) {
        await this.#steps.giveBack(project, landing, reason);
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
    const { repositories } = this.#options;
    const check = async () => {
      if (this.#isHeld(landing)) throw new Moved();
      await this.#conditions.requireRight(project, landing);
      const { targetBranch: branch } = landing;
      const tip = await repositories.read(project, (it) => it.branchTip(branch));
      if (tip !== target) throw new Moved();
    };
    try {
      const reason = await this.#steps.build(project, landing, { base, check });
      if (reason !== null) await this.#steps.giveBack(project, landing, reason);
    } catch (error) {
      if (error instanceof Moved) return;
      if (!(error instanceof Conflict || error instanceof InsufficientStorage)) throw error;
      await this.#steps.giveBack(project, landing, { message: error.message });
    }
  }

  /**
   * Lands the tested candidate, unless something has changed; then the next step reads the state
   * again.
   */
  async #land(project: Project, landing: Landing): Promise<void> {
    const { repositories } = this.#options;
    const check = async () => {
      if (this.#isHeld(landing)) throw new Moved();
      await this.#conditions.requireRight(project, landing);
      if (!(await this.#conditions.outcome(project, landing)).isPassed) throw new Moved();
    };
    try {
      await this.#steps.land(project, landing, check);
    } catch (error) {
      if (error instanceof Moved) return;
      if (error instanceof InsufficientStorage) {
        return await this.#steps.giveBack(project, landing, { message: error.message });
      }
      if (!(error instanceof Conflict)) throw error;
      const { targetBranch: branch, base } = landing;
      const tip = await repositories.read(project, (it) => it.branchTip(branch));
      if (tip === base) await this.#steps.giveBack(project, landing, { message: error.message });
    }
  }

  #wakeAtDeadline(id: string, open: readonly Landing[]): void {
    const { scheduler } = this.#options;
    const deadlines = open.filter(({ testingSince }) => testingSince !== null)
      .map((landing) => this.#conditions.deadlineOf(landing));
    if (deadlines.length === 0) return;
    this.#later(id, Math.max(Math.min(...deadlines) - scheduler.now(), 1));
  }
}
