import type { Slots } from "../../people/agents/mod.ts";
import type { Database } from "../../engines/database/mod.ts";
import { Conflict, Forbidden, Invalid, NotFound } from "../../kernel/errors.ts";
import { type AccountDirectory, type Caller, originOf } from "../../people/identity/mod.ts";
import type { Actor, Project, ProjectRepositories, Projects } from "../projects/mod.ts";
import type { Protection } from "../protection/mod.ts";
import type { Claims, Tickets } from "../tickets/mod.ts";
import type { Workspaces } from "../workspaces/mod.ts";
import { ReviewOpening } from "./opening.ts";
import {
  approvalsOf,
  type Comment,
  isOpen,
  MAX_BODY,
  type Review,
  type ReviewDetail,
  type ReviewRequest,
  type ReviewStatus,
  statusOf,
} from "./records.ts";
import { Reviewers } from "./reviewers.ts";
import {
  type DiffPart,
  diffRounds,
  nextRounds,
  placesOf,
  requireLine,
  type RoundDiff,
} from "./rounds.ts";
import type { NewComment } from "./schemas.ts";
import { type By, ReviewStatements } from "./statements.ts";
import { OpenReviewCounts, ReviewStore } from "./store.ts";

/** Most comments of one review. */
const MAX_COMMENTS = 1000;
/** Most comments of one author on a review: the others can always answer. */
const MAX_COMMENTS_PER_AUTHOR = 500;
/** Most characters of a review's comments before its last one: they are shown together. */
const MAX_CHARACTERS = 4_194_304;
/** Most of them of one author. */
const MAX_CHARACTERS_PER_AUTHOR = 2_097_152;

export interface ReviewsOptions {
  readonly database: Database;
  readonly repositories: ProjectRepositories;
  readonly claims: Pick<Claims, "active" | "fence">;
  readonly tickets: Pick<Tickets, "resolve">;
  readonly workspaces: Pick<Workspaces, "find" | "get" | "line" | "files" | "fenceGivingUp">;
  readonly protection: Pick<Protection, "ruleOf">;
  readonly accounts: Pick<AccountDirectory, "find" | "get">;
  readonly projects: Pick<Projects, "get">;
  readonly slots: Pick<Slots, "limitOf">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** A verdict on a round; the newest one if it names none. */
interface GivenVerdict {
  readonly verdict: "approved" | "changes_requested";
  readonly round?: number | undefined;
  readonly comment?: string | undefined;
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
    options.repositories.onReceived((reception) => nextRounds(parts, reception));
  }

  /** @throws NotFound */
  async require(project: Pick<Project, "id">, number: number): Promise<Review> {
    const review = await this.store.find(project.id, number);
    if (review === null) throw new NotFound("Review not found");
    return review;
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
    return this.#change(project, number, caller, async (review) => {
      requireOpen(review);
      const owner = await this.#ownerOf(review);
      const authors = [review.author.key, ...owner === null ? [] : [owner.key]];
      const named = this.reviewers.resolve(project, names, authors);
      const asked = await this.reviewers.unasked(review, named);
      if (asked.length === 0) return review;
      await this.reviewers.requireRoom(review, asked.length);
      const reviewers = asked.map(({ name }) => name);
      const by = this.#by(caller, actor);
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
    return this.#change(project, number, caller, async (review) => {
      const account = this.#options.accounts.find(name);
      const asked = (await this.reviewers.of([review])).get(review.id) ?? [];
      if (account === null || !asked.includes(account.name)) {
        throw new NotFound(`"${name}" was not asked to review this`);
      }
      const owner = await this.#ownerOf(review);
      if (![review.author.key, owner?.key, account.id].includes(actor.key) && !isAdmin) {
        throw new Forbidden("Only its author, the workspace's owner and the reviewer may do this");
      }
      const by = this.#by(caller, actor);
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
    return await this.#change(project, id, caller, async (review) => {
      await this.#requireQuota(review, actor);
      if (comment.file_path !== "") await this.#requireLine(project, review, comment);
      const by = this.#by(caller, actor);
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
   * Approves the newest round of a review, or requests changes, which withdraws the approvals.
   *
   * @throws NotFound, Conflict; Forbidden if the author approves
   */
  async giveVerdict(
    project: Project,
    number: number,
    { verdict, round, comment = "" }: GivenVerdict,
    { caller, actor }: ReviewRequest,
  ): Promise<Review> {
    const { database, repositories, protection } = this.#options;
    const { store, statements } = this;
    // A check-in from another program begins its round first.
    await repositories.catchUp(project);
    return await this.#change(project, number, caller, async (review) => {
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
      const by = this.#by(caller, actor);
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

  /**
   * Closes a review without a merge. Its author, its workspace's owner and admins may do this.
   *
   * @throws NotFound, Forbidden; Conflict, also if the lease of the owner's claim has run out
   */
  close(project: Project, number: number, request: ReviewRequest): Promise<Review> {
    const { caller, actor, isAdmin } = request;
    return this.#change(project, number, caller, async (review) => {
      if (review.status === "closed") return review;
      requireOpen(review);
      const { workspaces } = this.#options;
      const work = review.workspace === null ? null : await workspaces.get(review.workspace.id);
      if (work?.owner.key === actor.key) {
        await workspaces.fenceGivingUp(project, work, request);
      } else if (review.author.key !== actor.key && !isAdmin) {
        throw new Forbidden("Only its author and the workspace's owner can close a review");
      }
      const by = this.#by(caller, actor);
      await this.#options.database.commit({
        statements: [this.statements.status(review, "closed", by.now)],
        events: [
          this.statements.event(project, review, { status: "closed", action: "closed", by }),
        ],
      });
      return { ...review, status: "closed" };
    });
  }

  /**
   * Changes the current state of a review, while nothing else in the project changes.
   *
   * @throws NotFound
   */
  #change<T>(
    project: Project,
    number: number,
    caller: Caller,
    change: (review: Review) => Promise<T>,
  ): Promise<T> {
    return this.#options.repositories.exclusively(
      project,
      caller,
      async () => await change(await this.require(project, number)),
    );
  }

  /** The current owner of the reviewed workspace; null if there is none. */
  async #ownerOf({ workspace }: Review): Promise<Pick<Actor, "key"> | null> {
    if (workspace === null) return null;
    return (await this.#options.workspaces.get(workspace.id))?.owner ?? null;
  }

  /** Who makes a change, and when. */
  #by(caller: Caller, { name }: Actor): By {
    return { origin: originOf(caller), now: this.#options.clock(), name };
  }

  /** The comment of a verdict. */
  async #remark(review: Review, body: string, author: Actor, { now }: By) {
    if (body.trim() === "") return [];
    await this.#requireQuota(review, author);
    const comment = { body, file_path: "", line_number: null, side: "new" } as const;
    return this.statements.comment(review, comment, { author, now });
  }

  /** Nobody approves their own work. */
  async #requireOther(review: Review, { key }: Actor): Promise<void> {
    const owner = await this.#ownerOf(review);
    if (review.author.key === key || owner?.key === key) {
      throw new Forbidden("Cannot approve your own review");
    }
  }

  /** @throws Conflict if the review, or the author's part in it, has too many or too long comments */
  async #requireQuota(review: Review, { key }: Actor): Promise<void> {
    if (review.commentCount >= MAX_COMMENTS) {
      throw new Conflict(`A review has at most ${MAX_COMMENTS} comments`);
    }
    // A review of fewer comments has room, however long they are.
    if (review.commentCount * MAX_BODY < MAX_CHARACTERS_PER_AUTHOR) return;
    const { comments, characters, ofAll } = await this.store.roomTaken(review, key);
    if (ofAll >= MAX_CHARACTERS) {
      throw new Conflict(`The comments of a review have at most ${MAX_CHARACTERS} characters`);
    }
    if (comments >= MAX_COMMENTS_PER_AUTHOR) {
      throw new Conflict(`A review has at most ${MAX_COMMENTS_PER_AUTHOR} comments of one author`);
    }
    if (characters >= MAX_CHARACTERS_PER_AUTHOR) {
      throw new Conflict(
        `The comments of one author on a review have at most ${MAX_CHARACTERS_PER_AUTHOR} characters`,
      );
    }
  }

  /** Requires the line of a comment, unless the change is a diff that its author sent. */
  async #requireLine(project: Project, review: Review, comment: NewComment): Promise<void> {
    const round = await this.store.newestRound(review);
    if (round === null) return;
    const { repositories } = this.#options;
    await repositories.read(project, (repository) => requireLine(repository, round, comment));
  }
}

/** @throws Conflict if the review has ended */
function requireOpen(review: Review): void {
  if (!isOpen(review)) throw new Conflict(`Review is already ${review.status}`);
}
