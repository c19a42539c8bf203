import { Conflict, NotFound, ServiceError } from "../../kernel/errors.ts";
import type { AccountDirectory, Tokens } from "../../people/identity/mod.ts";
import {
  accessOf,
  hasEnded,
  type Project,
  type ProjectRepositories,
  type Projects,
} from "../projects/mod.ts";
import { type Protection, reasonOf, type RequiredCheck } from "../protection/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Claims } from "../tickets/mod.ts";
import type { Workspaces } from "../workspaces/mod.ts";
import type { Landing, LandingStore, Reason } from "./landing_store.ts";
import type { JudgedReview, ReviewMerges } from "./merges.ts";
import type { Review, ReviewRequest } from "./records.ts";
import type { Reviews } from "./reviews.ts";

export interface LandingConditionsOptions {
  readonly store: LandingStore;
  readonly reviews: Pick<Reviews, "store">;
  readonly merges: Pick<ReviewMerges, "judge">;
  readonly workspaces: Pick<Workspaces, "get">;
  readonly claims: Pick<Claims, "fence">;
  readonly protection: Pick<Protection, "judge" | "requiredChecks">;
  readonly repositories: Pick<ProjectRepositories, "read">;
  readonly scheduler: Pick<Scheduler, "now">;
  readonly projects: Pick<Projects, "get" | "settingsOf">;
  readonly accounts: Pick<AccountDirectory, "get">;
  readonly tokens: Pick<Tokens, "today">;
}

/** A step was prepared for a state that no longer holds. */
export class Moved extends Error {
  override readonly name = "Moved";
}

/**
 * The conditions of a landing: an approved review, its ticket's claim, the asker's right,
 * and passed checks.
 */
export class LandingConditions {
  readonly #options: LandingConditionsOptions;

  constructor(options: LandingConditionsOptions) {
    this.#options = options;
  }

  /** @throws Moved if the landing has changed, or may no longer land */
  async requireRight(project: Project, { id, candidate }: Landing): Promise<void> {
    const now = await this.#options.store.get(id);
    if (now === null || now.endedAt !== null || now.candidate !== candidate) throw new Moved();
    if (await this.objection(project, now) !== null) throw new Moved();
    const review = await this.#options.reviews.store.get(now.reviewId);
    if (review !== null) await this.fence(project, review);
  }

  /**
   * @param request the owner's, if it names a generation
   * @throws Conflict if another agent has claimed the work's ticket since
   */
  async fence(
    project: Project,
    { workspace }: Review,
    request?: Pick<ReviewRequest, "actor" | "generation">,
  ): Promise<void> {
    const { workspaces, claims } = this.#options;
    const work = workspace === null ? null : await workspaces.get(workspace.id);
    if (work === null || work.ticket === null) return;
    const { ticket, owner: actor } = work;
    const generation = request?.actor.key === actor.key ? request.generation : undefined;
    await claims.fence(project, { ticket, actor, generation });
  }

  /** Why a landing's review, or its asker's right, no longer permits it; null if both do. */
  async objection(project: Project, landing: Landing): Promise<Reason | null> {
    const { reviewId, tip } = landing;
    const judged = await this.judge(project, reviewId);
    const { review, isApproved, standing } = judged;
    if (review.status === "merged" || review.status === "closed") {
      return { message: `The review is ${review.status}` };
    }
    if (standing.tip !== tip) return { message: "The workspace has a newer check-in" };
    if (!isApproved) return { message: "The review is no longer approved" };
    const message = await this.#lostRight(project, landing, judged);
    return message === null ? null : { message };
  }

  /** Why the asker of a landing could not ask for it today; null if that is still possible. */
  async #lostRight(
    project: Project,
    { queuedBy, askedBy, targetBranch: branch }: Landing,
    { standing, changesChecks }: JudgedReview,
  ): Promise<string | null> {
    const { projects, accounts, tokens, protection } = this.#options;
    const held = projects.get(project.id);
    if (askedBy === null || held === null) return null;
    const { name, tokenId } = askedBy;
    const asker = tokens.today(askedBy);
    if (asker === null) {
      const isTokens = tokenId !== null && !hasEnded({ key: askedBy.id ?? "" }, accounts);
      const ended = isTokens ? "token" : "account";
      return `"${name}" asked for it, and its ${ended} has ended`;
    }
    if (hasEnded(queuedBy, accounts)) {
      return `It was asked for in the name of "${queuedBy.name}", whose account has ended`;
    }
    const { isAdmin, require } = accessOf(held, asker);
    try {
      require("write", false);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return `"${name}" asked for it, and may no longer merge: ${error.message}`;
    }
    const { tip } = standing;
    const question = { project, branch, isAdmin, tip, review: standing };
    const judgement = await protection.judge({ ...question, changesChecks, action: "queue" });
    return judgement.isAllowed ? null : judgement.reason;
  }

  /** @throws NotFound if the review is gone */
  async judge(project: Project, reviewId: string): Promise<JudgedReview> {
    const { reviews, merges } = this.#options;
    const review = await reviews.store.get(reviewId);
    if (review === null) throw new NotFound("Review not found");
    return await merges.judge(project, review);
  }

  /** @throws Conflict if the review came back with a conflict that it would have again */
  async requireNews(
    project: Project,
    { reviewId, tip, branch }: {
      readonly reviewId: string;
      readonly tip: string | null;
      readonly branch: string;
    },
  ): Promise<void> {
    const last = await this.#options.store.lastOf(reviewId);
    const { base, conflicts = [] } = last?.reason ?? {};
    if (conflicts.length === 0 || base === undefined || last?.tip !== tip) return;
    const target = await this.#options.repositories.read(project, (it) => it.branchTip(branch));
    if (target !== base) return;
    throw new Conflict(
      `The review came back with conflicts, and neither its workspace nor "${branch}" has changed`,
      { conflicts },
    );
  }

  /** The required checks of a candidate, with their states; none before it is tested. */
  async checksOf(project: Project, landing: Landing): Promise<readonly RequiredCheck[]> {
    const { protection, reviews, workspaces } = this.#options;
    const { candidate: checkin, base, targetBranch, status, queuedBy } = landing;
    if (status !== "testing" || checkin === null) return [];
    const review = await reviews.store.get(landing.reviewId);
    const workspace = await workspaces.get(review?.workspace?.id ?? "");
    const subjects = [queuedBy, review?.author, workspace?.owner].filter((one) =>
      one !== undefined
    );
    return await protection.requiredChecks(project, targetBranch, { checkin, base, subjects });
  }

  /** The outcome of a candidate's checks. */
  async outcome(
    project: Project,
    landing: Landing,
  ): Promise<{ readonly isPassed: boolean; readonly reason: Reason | null }> {
    const checks = await this.checksOf(project, landing);
    const failed = checks.filter(({ state }) => state === "failure" || state === "error")
      .map(({ context }) => context);
    if (failed.length > 0) {
      const message = `Checks failed: ${failed.join(", ")}`;
      return { isPassed: false, reason: { message, contexts: failed } };
    }
    const missing = checks.filter(({ state }) => state === "pending");
    if (missing.length === 0) return { isPassed: true, reason: null };
    const isLate = this.#options.scheduler.now() >= this.deadlineOf(landing);
    if (!isLate) return { isPassed: false, reason: null };
    const seconds = this.#timeoutOf(landing);
    const reasons = missing.map((check) => `${check.context} (${reasonOf(check)})`);
    return {
      isPassed: false,
      reason: {
        message: `Checks did not end within ${seconds} seconds: ${reasons.join(", ")}`,
        contexts: missing.map(({ context }) => context),
      },
    };
  }

  /** When the checks of a candidate must have passed, in Unix milliseconds. */
  deadlineOf(landing: Pick<Landing, "projectId" | "testingSince">): number {
    return (landing.testingSince ?? 0) + this.#timeoutOf(landing) * 1000;
  }

  #timeoutOf({ projectId }: Pick<Landing, "projectId">): number {
    return this.#options.projects.settingsOf(projectId).landing.timeout_seconds;
  }
}
