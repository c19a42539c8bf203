import { monotonicFactory } from "ulid";
import type { Checks } from "../checks/mod.ts";
import type { Database } from "../database/mod.ts";
import { Conflict, Forbidden, NotFound } from "../errors.ts";
import type { EventLog } from "../events/mod.ts";
import { type AccountDirectory, originOf } from "../identity/mod.ts";
import type { Log } from "../log.ts";
import type { Project, ProjectRepositories, Projects } from "../projects/mod.ts";
import type { Protection } from "../protection/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Claims } from "../tickets/mod.ts";
import type { Workspaces } from "../workspaces/mod.ts";
import { type Landing, LandingStore, type Reason } from "./landing_store.ts";
import { LandingSteps } from "./landing_steps.ts";
import type { JudgedReview, ReviewMerges } from "./merges.ts";
import type { Review } from "./records.ts";
import type { ReviewRequest } from "./request.ts";
import type { Reviews } from "./reviews.ts";

/** Reviews that wait in one project. */
const MAX_QUEUED = 1000;

/** Steps without a pause; more begin again after {@link RETRY_MS}. */
const MAX_STEPS = 5000;

/** Landings from the head whose reviews are looked at in each step. */
const LOOKED_AT = 20;

/** When a queue that failed is tried again, in milliseconds. */
const RETRY_MS = 10_000;

/** Events that can move a queue on. */
const EVENTS = [
  "project.status",
  "project.checkin",
  "project.tag",
  "project.review",
  "project.workspace",
  "project.protection_changed",
  "project.unarchived",
];

export interface LandingQueueOptions {
  readonly database: Database;
  readonly projects: Pick<Projects, "get">;
  readonly repositories: ProjectRepositories;
  readonly accounts: Pick<AccountDirectory, "get">;
  readonly reviews: Reviews;
  readonly merges: Pick<ReviewMerges, "judge">;
  readonly workspaces: Pick<Workspaces, "merged" | "get">;
  readonly claims: Pick<Claims, "fence">;
  readonly protection: Pick<Protection, "require" | "ruleOf">;
  readonly checks: Pick<Checks, "statesOf">;
  readonly eventLog: Pick<EventLog, "follow">;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly depth: number;
  readonly timeoutSeconds: number;
}

/** Where a landing stands in its queue. */
export interface QueuedLanding {
  readonly landing: Landing;
  /** From 1; null where it has ended. */
  readonly position: number | null;
}

/**
 * The landing queue: approved reviews get to their target branch one after the other, each as the very
 * check-in that was tested. What is to be done next is read from the database and the repository at
 * each step, so that the queue goes on after a kill where it was.
 */
export class LandingQueue {
  readonly store: LandingStore;
  readonly #options: LandingQueueOptions;
  readonly #steps: LandingSteps;
  readonly #running = new Map<string, { again: boolean; readonly done: Promise<void> }>();
  readonly #timers = new Map<string, () => void>();
  /** Ids rise, also within a millisecond: the queue is in their order. */
  readonly #newId = monotonicFactory();
  #unfollow: () => void = () => {};
  #isClosed = false;

  constructor(options: LandingQueueOptions) {
    this.#options = options;
    this.store = new LandingStore(options.database);
    this.#steps = new LandingSteps({
      ...options,
      store: this.store,
      clock: () => options.scheduler.now(),
      workspaceOf: async ({ reviewId }) =>
        (await options.reviews.store.get(reviewId))?.workspace?.id ?? "",
    });
  }

  /** Goes on with every queue, and from now on whenever something happens that can move one. */
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
    for (const id of await this.store.projects()) this.#advance(id);
  }

  /** Stops, once the steps that were begun are done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unfollow();
    for (const cancel of this.#timers.values()) cancel();
    await Promise.all(Array.from(this.#running.values(), ({ done }) => done));
  }

  /**
   * Puts an approved review at the end of the queue of its target branch. One that is there already
   * keeps its place.
   *
   * @throws NotFound, Conflict, Forbidden where the branch's rule is against it
   */
  async land(
    project: Project,
    number: number,
    { caller, actor, isAdmin }: ReviewRequest,
  ): Promise<QueuedLanding> {
    const { database, repositories, reviews, protection, scheduler } = this.#options;
    await repositories.catchUp(project);
    const landing = await repositories.exclusively(project, async () => {
      const review = await reviews.require(project, number);
      const waiting = await this.store.openOf(review.id);
      if (waiting !== null) return waiting;
      if (review.workspace === null) throw new Conflict("Only a review of a workspace can land");
      const { isApproved, standing } = await this.#judge(project, review.id);
      if (review.status === "merged") throw new Conflict("Review is already merged");
      if (!isApproved) throw new Conflict("Review must be approved before landing");
      const { targetBranch: branch } = review;
      await this.#fence(project, review);
      const question = { project, branch, actor, isAdmin, tip: standing.tip, review: standing };
      await protection.require({ ...question, action: "queue" });
      if ((await this.store.open(project.id)).length >= MAX_QUEUED) {
        throw new Conflict(`At most ${MAX_QUEUED} reviews wait in a project's queue`);
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
   * Takes a review out of the queue. Its author, who queued it and admins may.
   *
   * @throws NotFound, Forbidden
   */
  async withdraw(
    project: Project,
    number: number,
    { caller, actor, isAdmin }: ReviewRequest,
  ): Promise<void> {
    const review = await this.#options.reviews.require(project, number);
    const landing = await this.store.openOf(review.id);
    if (landing === null) throw new NotFound("The review is not in the landing queue");
    if (![review.author.key, landing.queuedBy.key].includes(actor.key) && !isAdmin) {
      throw new Forbidden("Only its author and who queued it can take a review out of the queue");
    }
    await this.#steps.giveBack(project, landing, {
      message: `${actor.name} took it out of the queue`,
    }, caller);
    this.#advance(project.id);
  }

  /** The queues of a project, in their order, and what ended last. */
  async list({ id }: Pick<Project, "id">): Promise<readonly QueuedLanding[]> {
    const ahead = new Map<string, number>();
    const open = (await this.store.open(id)).map((landing) => {
      const position = (ahead.get(landing.targetBranch) ?? 0) + 1;
      ahead.set(landing.targetBranch, position);
      return { landing, position };
    });
    const ended = (await this.store.ended(id)).map((landing) => ({ landing, position: null }));
    return [...open, ...ended];
  }

  /** Moves the queues of a project on, on the side. */
  #advance(id: string): void {
    if (this.#isClosed) return;
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
      log.warn("A landing queue stopped and is tried again", { project: id, error });
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

  /** Does the next thing that is to be done in a project; false where there is nothing. */
  async #step(project: Project): Promise<boolean> {
    const open = await this.store.open(project.id);
    for (const landing of open.slice(0, Math.max(this.#options.depth, LOOKED_AT))) {
      const reason = await this.#objection(project, landing);
      if (reason !== null) {
        await this.#steps.giveBack(project, landing, reason);
        return true;
      }
    }
    const queues = Map.groupBy(open, ({ targetBranch }) => targetBranch);
    for (const [branch, queue] of queues) {
      if (await this.#stepOf(project, branch, queue)) return true;
    }
    this.#wakeAtDeadline(project.id, open);
    return false;
  }

  /** The same in one queue. */
  async #stepOf(project: Project, branch: string, queue: readonly Landing[]): Promise<boolean> {
    const { repositories, depth } = this.#options;
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
      const { isPassed, reason } = await this.#outcome(project, landing);
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
    const check = async () => {
      await this.#requireRight(project, landing);
      const { targetBranch: branch } = landing;
      const tip = await this.#options.repositories.read(project, (it) => it.branchTip(branch));
      if (tip !== target) throw new Moved();
    };
    try {
      const reason = await this.#steps.build(project, landing, { base, check });
      if (reason !== null) await this.#steps.giveBack(project, landing, reason);
    } catch (error) {
      if (error instanceof Moved) return;
      if (!(error instanceof Conflict)) throw error;
      await this.#steps.giveBack(project, landing, { message: error.message });
    }
  }

  /** Lands the tested candidate, unless something has moved. Then the next step finds out what. */
  async #land(project: Project, landing: Landing): Promise<void> {
    const check = async () => {
      await this.#requireRight(project, landing);
      if (!(await this.#outcome(project, landing)).isPassed) throw new Moved();
    };
    try {
      await this.#steps.land(project, landing, check);
    } catch (error) {
      if (error instanceof Moved) return;
      if (!(error instanceof Conflict)) throw error;
      const { targetBranch: branch, base } = landing;
      const tip = await this.#options.repositories.read(project, (it) => it.branchTip(branch));
      if (tip === base) await this.#steps.giveBack(project, landing, { message: error.message });
    }
  }

  /** @throws Moved where a landing is not what it was, or must not land any more */
  async #requireRight(project: Project, { id, candidate }: Landing): Promise<void> {
    const now = await this.store.get(id);
    if (now === null || now.endedAt !== null || now.candidate !== candidate) throw new Moved();
    if (await this.#objection(project, now) !== null) throw new Moved();
    const review = await this.#options.reviews.store.get(now.reviewId);
    if (review !== null) await this.#fence(project, review);
  }

  /** @throws Conflict where the ticket of the work has gone to another agent */
  async #fence(project: Project, { workspace }: Review): Promise<void> {
    const { workspaces, claims } = this.#options;
    const work = workspace === null ? null : await workspaces.get(workspace.id);
    if (work === null || work.ticket === null) return;
    await claims.fence(project, { ticket: work.ticket, actor: work.owner });
  }

  /** Why a landing must not go on, as far as its review says. */
  async #objection(project: Project, { reviewId, tip }: Landing): Promise<Reason | null> {
    const { review, isApproved, standing } = await this.#judge(project, reviewId);
    if (review.status === "merged" || review.status === "closed") {
      return { message: `The review is ${review.status}` };
    }
    if (standing.tip !== tip) return { message: "The workspace has a newer check-in" };
    return isApproved ? null : { message: "The review is not approved any more" };
  }

  async #judge(project: Project, reviewId: string): Promise<JudgedReview> {
    const { reviews, merges } = this.#options;
    const review = await reviews.store.get(reviewId);
    if (review === null) throw new NotFound("Review not found");
    return await merges.judge(project, review);
  }

  /** What the checks of a candidate say. */
  async #outcome(
    project: Project,
    { candidate, targetBranch, testingSince }: Landing,
  ): Promise<{ readonly isPassed: boolean; readonly reason: Reason | null }> {
    const { checks, protection, scheduler, timeoutSeconds } = this.#options;
    const { contexts } = protection.ruleOf(project, targetBranch);
    if (contexts.length === 0) return { isPassed: true, reason: null };
    const states = await checks.statesOf(project, candidate ?? "");
    const failed = contexts.filter((context) =>
      states.get(context) === "failure" || states.get(context) === "error"
    );
    if (failed.length > 0) {
      const message = `Checks failed: ${failed.join(", ")}`;
      return { isPassed: false, reason: { message, contexts: failed } };
    }
    const missing = contexts.filter((context) => states.get(context) !== "success");
    if (missing.length === 0) return { isPassed: true, reason: null };
    const isLate = scheduler.now() >= (testingSince ?? 0) + timeoutSeconds * 1000;
    if (!isLate) return { isPassed: false, reason: null };
    const message = `Checks did not end within ${timeoutSeconds} seconds: ${missing.join(", ")}`;
    return { isPassed: false, reason: { message, contexts: missing } };
  }

  #wakeAtDeadline(id: string, open: readonly Landing[]): void {
    const { scheduler, timeoutSeconds } = this.#options;
    const since = open.flatMap(({ testingSince }) => testingSince === null ? [] : [testingSince]);
    if (since.length === 0) return;
    const deadline = Math.min(...since) + timeoutSeconds * 1000;
    this.#later(id, Math.max(deadline - scheduler.now(), 1));
  }
}

/** A step was prepared for a state that is not there any more. */
class Moved extends Error {
  override readonly name = "Moved";
}
