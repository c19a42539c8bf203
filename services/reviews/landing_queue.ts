import { monotonicFactory } from "ulid";
import type { Database, Statement } from "../database/mod.ts";
import { Conflict, Forbidden, NotFound } from "../errors.ts";
import type { EventLog } from "../events/mod.ts";
import { type AccountDirectory, type Identity, originOf, type Tokens } from "../identity/mod.ts";
import type { Log } from "../log.ts";
import type { Project, ProjectRepositories, Projects } from "../projects/mod.ts";
import type { Protection, RequiredCheck } from "../protection/mod.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Claims } from "../tickets/mod.ts";
import type { Workspaces } from "../workspaces/mod.ts";
import { LandingConditions } from "./landing_conditions.ts";
import { type LandingHalts, LandingRunner } from "./landing_runner.ts";
import { type LandedWork, LandingSteps } from "./landing_steps.ts";
import { type Landing, LandingStore } from "./landing_store.ts";
import type { ReviewMerges } from "./merges.ts";
import type { ReviewRequest } from "./request.ts";
import type { Reviews } from "./reviews.ts";

/** Most waiting reviews of one project. */
const MAX_QUEUED = 1000;

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
  readonly halts: LandingHalts & {
    extend(part: (isHalted: (id: string) => boolean, now: number) => readonly Statement[]): void;
  };
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
  readonly #runner: LandingRunner;
  /** Monotonic within a millisecond: the queue is ordered by id. */
  readonly #newId = monotonicFactory();

  constructor(options: LandingQueueOptions) {
    this.#options = options;
    this.store = new LandingStore(options.database);
    this.#steps = new LandingSteps({
      ...options,
      store: this.store,
      clock: () => options.scheduler.now(),
      workOf: (landing) => this.#workOf(landing),
    });
    this.#conditions = new LandingConditions({ ...options, store: this.store });
    this.#runner = new LandingRunner({
      ...options,
      store: this.store,
      steps: this.#steps,
      conditions: this.#conditions,
    });
    options.halts.extend((_, now) => [this.store.restarting(now)]);
  }

  /** Continues every queue, now and after each event that may advance one. */
  start(): Promise<void> {
    return this.#runner.start();
  }

  /** Stops after the running steps. */
  close(): Promise<void> {
    return this.#runner.close();
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
      const { isApproved, standing } = await this.#conditions.judge(project, review.id);
      if (review.status === "merged") throw new Conflict("Review is already merged");
      if (!isApproved) throw new Conflict("Review must be approved before landing");
      const { targetBranch: branch } = review;
      await this.#conditions.fence(project, review, { actor, generation });
      const question = { project, branch, isAdmin, tip: standing.tip, review: standing };
      await protection.require({ ...question, action: "queue" });
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
    this.#runner.advance(project.id);
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
    this.#runner.advance(project.id);
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

  async #workOf({ reviewId }: Landing): Promise<LandedWork> {
    const { reviews, workspaces } = this.#options;
    const review = await reviews.store.get(reviewId);
    const workspaceId = review?.workspace?.id ?? "";
    const work = await workspaces.get(workspaceId);
    const tickets = [work?.ticket, review?.ticket].filter((ticket) => typeof ticket === "string");
    return { workspaceId, tickets: [...new Set(tickets)] };
  }
}
