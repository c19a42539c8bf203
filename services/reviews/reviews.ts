import type { Slots } from "../agents/mod.ts";
import type { Database } from "../database/mod.ts";
import { Conflict, Forbidden, Invalid, NotFound } from "../errors.ts";
import type { AccountDirectory } from "../identity/mod.ts";
import type { Actor, Project, ProjectRepositories, Projects } from "../projects/mod.ts";
import type { Protection } from "../protection/mod.ts";
import type { Claims } from "../tickets/mod.ts";
import type { Workspaces } from "../workspaces/mod.ts";
import { OpenReviewCounts } from "./open_counts.ts";
import { placesOf, requireLine } from "./comment_lines.ts";
import { ReviewOpening } from "./opening.ts";
import { Judging } from "./judging.ts";
import type { Comment, Review } from "./records.ts";
import type { ReviewRequest } from "./request.ts";
import { type DiffPart, diffRounds, type RoundDiff } from "./round_diff.ts";
import { requireOpen, ReviewChanges } from "./review_changes.ts";
import { Reviewers } from "./reviewers.ts";
import { requireQuotaForComment } from "./quota.ts";
import { RoundKeeper } from "./round_keeper.ts";
import type { NewComment, NewReview, VerdictRequest } from "./schemas.ts";
import { ReviewStatements } from "./statements.ts";
import { ReviewStore } from "./store.ts";
import { approvalsOf } from "./verdicts.ts";
import type { ReviewDetail } from "./views.ts";

export interface ReviewsOptions {
  readonly database: Database;
  readonly repositories: ProjectRepositories;
  readonly claims: Pick<Claims, "active" | "fence">;
  readonly workspaces: Pick<Workspaces, "find" | "get" | "line" | "files" | "fenceGivingUp">;
  readonly protection: Pick<Protection, "ruleOf">;
  readonly accounts: Pick<AccountDirectory, "find" | "get">;
  readonly projects: Pick<Projects, "get">;
  readonly slots: Pick<Slots, "limitOf">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * Reviews of changes, in rounds. A review changes only while nothing is written to the project's
 * repository, so a verdict and a new check-in never cross.
 */
export class Reviews {
  readonly store: ReviewStore;
  readonly statements: ReviewStatements;
  /** The accounts that were asked for a verdict. */
  readonly reviewers: Reviewers;
  readonly openCounts: OpenReviewCounts;
  /** Opens reviews, on request and for submitted work. */
  readonly opening: ReviewOpening;
  readonly #options: ReviewsOptions;
  readonly #changes: ReviewChanges;
  readonly #judging: Judging;

  constructor(options: ReviewsOptions) {
    this.#options = options;
    this.store = new ReviewStore(options.database);
    this.statements = new ReviewStatements(options.database);
    this.reviewers = new Reviewers(options);
    this.openCounts = new OpenReviewCounts(options.database, this.store);
    const parts = {
      ...options,
      store: this.store,
      statements: this.statements,
      reviewers: this.reviewers,
    };
    this.opening = new ReviewOpening(parts);
    this.#changes = new ReviewChanges(parts);
    this.#judging = new Judging({ ...parts, changes: this.#changes });
    const keeper = new RoundKeeper(parts);
    options.repositories.onReceived((reception) => keeper.next(reception));
  }

  /** @throws NotFound */
  require(project: Pick<Project, "id">, number: number): Promise<Review> {
    return this.#changes.require(project, number);
  }

  /**
   * A review with its diff, verdicts and comments.
   *
   * @param hasDiff whether the diff is computed; otherwise it is empty
   */
  async detail(
    project: Project,
    number: number,
    { hasDiff = true }: { readonly hasDiff?: boolean } = {},
  ): Promise<ReviewDetail> {
    const review = await this.require(project, number);
    const [rounds, comments, verdicts, verdictHistory, reviewers] = await Promise.all([
      this.store.rounds(review),
      this.store.comments(review),
      this.store.verdicts(review),
      this.store.verdictHistory(review),
      this.reviewers.of([review]),
    ]);
    const rule = this.#options.protection.ruleOf(project, review.targetBranch);
    const common = {
      review,
      reviewers: reviewers.get(review.id) ?? [],
      rounds,
      comments,
      verdicts,
      verdictHistory,
      approvals: approvalsOf(verdicts, rule),
    };
    if (rounds.length === 0) {
      const diff = await this.store.diffOf(review);
      return { ...common, diff, isTruncated: false, places: new Map() };
    }
    return await this.#options.repositories.read(project, async (repository) => {
      const { diff, isTruncated } = hasDiff
        ? await diffRounds(repository, rounds, { from: 0, to: review.round })
        : { diff: "", isTruncated: false };
      return { ...common, diff, isTruncated, places: await placesOf(repository, comments, rounds) };
    });
  }

  /**
   * The changes between two rounds; by default, those since the actor's last verdict, or the whole
   * change if there is none.
   *
   * @throws NotFound; Conflict if the review has no workspace
   */
  async diff(
    project: Project,
    number: number,
    { from, to, actor, ...part }: DiffPart & {
      readonly from?: number | undefined;
      readonly to?: number | undefined;
      readonly actor: Actor | null;
    },
  ): Promise<RoundDiff> {
    const review = await this.require(project, number);
    const rounds = await this.store.rounds(review);
    if (rounds.length === 0) {
      throw new Conflict("The review has no workspace, so it has only its author's diff");
    }
    const last = actor === null ? null : await this.store.lastVerdictRound(review, actor.key);
    const ends = { from: from ?? last ?? 0, to: to ?? review.round, ...part };
    return await this.#options.repositories.read(
      project,
      (repository) => diffRounds(repository, rounds, ends),
    );
  }

  /**
   * Opens a review.
   *
   * @throws Invalid, NotFound, Forbidden, Conflict
   */
  create(project: Project, request: NewReview, by: ReviewRequest): Promise<Review> {
    return this.opening.create(project, request, by);
  }

  /**
   * Asks accounts for their verdicts. Those who were asked before stay.
   *
   * @throws NotFound; Conflict if the review has ended; Invalid if one of them cannot review it
   */
  ask(
    project: Project,
    number: number,
    names: readonly string[],
    { caller, actor }: ReviewRequest,
  ): Promise<Review> {
    return this.#changes.run(project, number, caller, async (review) => {
      requireOpen(review);
      const owner = await this.#changes.ownerOf(review);
      const authors = [review.author.key, ...owner === null ? [] : [owner.key]];
      const named = this.reviewers.resolve(project, names, authors);
      const asked = await this.reviewers.unasked(review, named);
      if (asked.length === 0) return review;
      await this.reviewers.requireRoom(review, asked.length);
      const reviewers = asked.map(({ name }) => name);
      const by = this.#changes.by(caller, actor);
      const event = { status: review.status, action: "requested", reviewers, by } as const;
      await this.#options.database.commit({
        statements: this.reviewers.insertion(review, asked, by.now),
        events: [this.statements.event(project, review, event)],
      });
      return review;
    });
  }

  /**
   * Asks a reviewer no longer. The author, the workspace's owner, admins and the reviewer may.
   *
   * @throws NotFound if the account was not asked; Forbidden
   */
  withdrawRequest(
    project: Project,
    number: number,
    name: string,
    { caller, actor, isAdmin }: ReviewRequest,
  ): Promise<Review> {
    return this.#changes.run(project, number, caller, async (review) => {
      const account = this.#options.accounts.find(name);
      const asked = (await this.reviewers.of([review])).get(review.id) ?? [];
      if (account === null || !asked.includes(account.name)) {
        throw new NotFound(`"${name}" was not asked to review this`);
      }
      const owner = await this.#changes.ownerOf(review);
      if (![review.author.key, owner?.key, account.id].includes(actor.key) && !isAdmin) {
        throw new Forbidden("Only its author, the workspace's owner and the reviewer may do this");
      }
      const by = this.#changes.by(caller, actor);
      const reviewers = [account.name];
      const event = { status: review.status, action: "request_withdrawn", reviewers, by } as const;
      await this.#options.database.commit({
        statements: [this.reviewers.removal(review, account)],
        events: [this.statements.event(project, review, event)],
      });
      return review;
    });
  }

  /** @throws NotFound, Invalid, Conflict */
  async comment(
    project: Project,
    id: number,
    comment: NewComment,
    { caller, actor }: ReviewRequest,
  ): Promise<Comment> {
    if (comment.body.trim() === "") throw new Invalid("Comment body is required");
    if (comment.line_number !== null && comment.file_path === "") {
      throw new Invalid('"line_number" needs "file_path"');
    }
    return await this.#changes.run(project, id, caller, async (review) => {
      await requireQuotaForComment(this.store, review, actor);
      if (comment.file_path !== "") await this.#requireLine(project, review, comment);
      const by = this.#changes.by(caller, actor);
      const number = review.commentCount + 1;
      const event = { status: review.status, action: "commented", comment: number, by } as const;
      await this.#options.database.commit({
        statements: this.statements.comment(review, comment, { author: actor, now: by.now }),
        events: [this.statements.event(project, review, event)],
      });
      const made = await this.store.comment(review, number);
      if (made === null) throw new Error("The new comment is missing from the database");
      return made;
    });
  }

  /**
   * Approves the newest round.
   *
   * @throws NotFound, Forbidden for the author, Conflict
   */
  approve(
    project: Project,
    number: number,
    { round, comment }: VerdictRequest,
    by: ReviewRequest,
  ): Promise<Review> {
    return this.#judging.give(project, number, { verdict: "approved", round, comment }, by);
  }

  /**
   * Requests changes, which withdraws the approvals.
   *
   * @throws NotFound, Conflict
   */
  requestChanges(
    project: Project,
    number: number,
    { round, comment }: VerdictRequest,
    by: ReviewRequest,
  ): Promise<Review> {
    return this.#judging.give(
      project,
      number,
      { verdict: "changes_requested", round, comment },
      by,
    );
  }

  /**
   * Closes a review without a merge. Its author, its workspace's owner and admins may do this.
   *
   * @throws NotFound, Forbidden; Conflict, also if the lease of the owner's claim has run out
   */
  close(project: Project, number: number, request: ReviewRequest): Promise<Review> {
    const { caller, actor, isAdmin } = request;
    return this.#changes.run(project, number, caller, async (review) => {
      if (review.status === "closed") return review;
      requireOpen(review);
      const { workspaces } = this.#options;
      const work = review.workspace === null ? null : await workspaces.get(review.workspace.id);
      if (work?.owner.key === actor.key) {
        await workspaces.fenceGivingUp(project, work, request);
      } else if (review.author.key !== actor.key && !isAdmin) {
        throw new Forbidden("Only its author and the workspace's owner can close a review");
      }
      const by = this.#changes.by(caller, actor);
      await this.#options.database.commit({
        statements: [this.statements.status(review, "closed", by.now)],
        events: [
          this.statements.event(project, review, { status: "closed", action: "closed", by }),
        ],
      });
      return { ...review, status: "closed" };
    });
  }

  /** Requires the line of a comment, unless the change is a diff that its author sent. */
  async #requireLine(project: Project, review: Review, comment: NewComment): Promise<void> {
    const round = await this.store.newestRound(review);
    if (round === null) return;
    const { repositories } = this.#options;
    await repositories.read(project, (repository) => requireLine(repository, round, comment));
  }
}
