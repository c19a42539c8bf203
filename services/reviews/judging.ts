import type { Database } from "../database/mod.ts";
import { Conflict, Forbidden } from "../errors.ts";
import type { Actor, Project, ProjectRepositories } from "../projects/mod.ts";
import type { Protection } from "../protection/mod.ts";
import type { Review, ReviewStatus } from "./records.ts";
import type { ReviewRequest } from "./request.ts";
import { requireOpen, type ReviewChanges } from "./review_changes.ts";
import { requireQuotaForComment } from "./quota.ts";
import type { By, ReviewStatements } from "./statements.ts";
import type { ReviewStore } from "./store.ts";
import { statusOf } from "./verdicts.ts";

export interface JudgingOptions {
  readonly database: Database;
  readonly repositories: Pick<ProjectRepositories, "catchUp">;
  readonly protection: Pick<Protection, "ruleOf">;
  readonly store: ReviewStore;
  readonly statements: ReviewStatements;
  readonly changes: ReviewChanges;
}

/** A verdict on a round; the newest one if it names none. */
interface GivenVerdict {
  readonly verdict: "approved" | "changes_requested";
  readonly round: number | undefined;
  readonly comment?: string | undefined;
}

/** Takes the verdicts on reviews. */
export class Judging {
  readonly #options: JudgingOptions;

  constructor(options: JudgingOptions) {
    this.#options = options;
  }

  /**
   * Gives a verdict on the newest round.
   *
   * @throws NotFound, Conflict; Forbidden if the author approves
   */
  async give(
    project: Project,
    number: number,
    { verdict, round, comment = "" }: GivenVerdict,
    { caller, actor }: ReviewRequest,
  ): Promise<Review> {
    const { database, repositories, protection, store, statements, changes } = this.#options;
    // A check-in from another program begins its round first.
    await repositories.catchUp(project);
    return await changes.run(project, number, caller, async (review) => {
      requireOpen(review);
      if (verdict === "approved") await this.#requireOther(review, actor);
      if (round !== undefined && round !== review.round) {
        throw new Conflict(`Round ${round} is not the newest of the review`, {
          round: review.round,
        });
      }
      const standing = await store.verdicts(review);
      const own = standing.find(({ reviewer }) => reviewer.key === actor.key);
      if (own?.verdict === verdict && comment.trim() === "") return review;
      const by = changes.by(caller, actor);
      const given = {
        reviewId: review.id,
        round: review.round,
        reviewer: actor,
        verdict,
        givenAt: by.now,
      };
      const others = standing.filter((one) =>
        one.reviewer.key !== actor.key && (verdict === "approved" || one.verdict !== "approved")
      );
      const rule = protection.ruleOf(project, review.targetBranch);
      const status: ReviewStatus = statusOf([...others, given], rule);
      await database.commit({
        statements: [
          ...(verdict === "approved" ? [] : [statements.withdraw(review, by.now, "approved")]),
          ...statements.verdict(given),
          statements.status(review, status, by.now),
          ...await this.#remark(review, comment, actor, by),
        ],
        events: [
          statements.event(project, review, {
            status,
            action: verdict,
            comment: comment.trim() === "" ? null : review.commentCount + 1,
            by,
          }),
        ],
      });
      return { ...review, status };
    });
  }

  /** The comment of a verdict. */
  async #remark(review: Review, body: string, author: Actor, { now }: By) {
    if (body.trim() === "") return [];
    const { store, statements } = this.#options;
    await requireQuotaForComment(store, review, author);
    const comment = { body, file_path: "", line_number: null, side: "new" } as const;
    return statements.comment(review, comment, { author, now });
  }

  /** Nobody approves their own work. */
  async #requireOther(review: Review, { key }: Actor): Promise<void> {
    const owner = await this.#options.changes.ownerOf(review);
    if (review.author.key === key || owner?.key === key) {
      throw new Forbidden("Cannot approve your own review");
    }
  }
}
