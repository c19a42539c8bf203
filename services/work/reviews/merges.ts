import type { Change, Database } from "../../engines/database/mod.ts";
import { Conflict, Forbidden } from "../../kernel/errors.ts";
import { originOf } from "../../people/identity/mod.ts";
import type { Project, ProjectRepositories, RegisteredKind } from "../projects/mod.ts";
import type { Protection, RequiredCheck, ReviewStanding } from "../protection/mod.ts";
import type { Claims } from "../tickets/mod.ts";
import {
  type GatedMerge,
  pathsOf,
  type WorkspaceChange,
  type Workspaces,
} from "../workspaces/mod.ts";
import { definesChecks } from "../projects/mod.ts";
import { LandingStore } from "./landing_store.ts";
import {
  approvalsOf,
  describeApprovals,
  isOpen,
  type Review,
  type ReviewDetail,
  type ReviewRequest,
  statusOf,
} from "./records.ts";
import type { Reviews } from "./reviews.ts";
import { MAX_FILES } from "./rounds.ts";

export interface ReviewMergesOptions {
  readonly database: Database;
  readonly repositories: ProjectRepositories;
  readonly reviews: Reviews;
  readonly workspaces: Pick<
    Workspaces,
    "addGate" | "get" | "onChanged" | "mergeExactly" | "line" | "files"
  >;
  readonly protection: Pick<Protection, "require" | "requiredChecks" | "ruleOf">;
  readonly claims: Pick<Claims, "merged">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** The `extra` of a workspace's merge that merges a review, and what such an intention holds. */
interface MergeOf {
  readonly review: string;
}

/** A review with the facts that decide on its merge. */
export interface JudgedReview {
  readonly review: Review;
  readonly isApproved: boolean;
  readonly standing: ReviewStanding;
  /** Whether it changes what its target branch defines as checks. */
  readonly changesChecks: boolean;
  /** The approvals that it has, of those that it needs: "0 of 1 approval". */
  readonly progress: string;
}

/**
 * Merges reviews, and guards every merge of a workspace: through any endpoint and for any caller, a
 * workspace under review is merged only as it was approved.
 */
export class ReviewMerges {
  readonly #options: ReviewMergesOptions;
  readonly #landings: LandingStore;
  /** The merge of a review without a workspace that closes its ticket. */
  readonly #marked: RegisteredKind<MergeOf>;

  constructor(options: ReviewMergesOptions) {
    this.#options = options;
    this.#landings = new LandingStore(options.database);
    this.#marked = options.repositories.intentions.register<MergeOf>({
      name: "review.merged",
      settle: async ({ project, body, origin, now }) => {
        const review = await options.reviews.store.get(body.review);
        if (review === null || !isOpen(review)) return {};
        return await this.#mergedChange(project, review, {
          origin,
          now,
          checkin: null,
          ended: null,
        });
      },
    });
    options.workspaces.addGate((merge) => this.#gate(merge));
    options.workspaces.onChanged((change) => this.#onChanged(change));
  }

  /**
   * Merges an approved review's workspace, at exactly the approved check-in. A review without a
   * workspace is only marked as merged.
   *
   * @returns the review and the check-in of the merge
   * @throws NotFound, Forbidden; Conflict, with `conflicts` if the merge has any
   */
  async merge(
    project: Project,
    number: number,
    request: ReviewRequest,
  ): Promise<{ readonly review: Review; readonly checkin: string | null }> {
    const { repositories, reviews, workspaces } = this.#options;
    await repositories.catchUp(project);
    const review = await reviews.require(project, number);
    await this.#requireApproved(project, review);
    if (review.workspace === null) {
      await this.#mark(project, review, request);
      return { review: { ...review, status: "merged" }, checkin: null };
    }
    const round = await reviews.store.newestRound(review);
    const { uuid } = await workspaces.mergeExactly(project, {
      ...request,
      workspace: review.workspace,
      tip: round?.tip ?? "",
      target: review.targetBranch,
      message: messageOf(review),
      extra: { review: review.id } satisfies MergeOf,
    });
    return { review: { ...review, status: "merged", mergedAs: uuid }, checkin: uuid };
  }

  /**
   * Marks a review without a workspace as merged, and closes its ticket.
   *
   * @throws Conflict if the review is no longer approved
   */
  async #mark(
    project: Project,
    { id, ticket }: Review,
    { caller, actor }: ReviewRequest,
  ): Promise<void> {
    const { database, repositories, clock } = this.#options;
    const isDone = ticket === null ||
      await repositories.read(project, (repository) => repository.isTicketClosed(ticket));
    const hash = isDone ? null : await repositories.write(project, {
      caller,
      user: actor.name,
      intention: { kind: this.#marked, body: { review: id } },
      write: async (repository, stamp) => {
        await this.#requireStillApproved(project, id);
        return await repository.closeTicket({ ...stamp, ticket });
      },
    });
    if (hash !== null) return;
    // There is no ticket to close.
    await repositories.exclusively(project, caller, async () => {
      const review = await this.#requireStillApproved(project, id);
      await database.commit(
        await this.#mergedChange(project, review, {
          origin: originOf(caller),
          now: clock(),
          checkin: null,
          ended: null,
        }),
      );
    });
  }

  /** The current state of a review that is approved. */
  async #requireStillApproved(project: Project, id: string): Promise<Review> {
    const review = await this.#options.reviews.store.get(id);
    if (review === null) throw new Conflict("The review no longer exists");
    await this.#requireApproved(project, review);
    return review;
  }

  /** Whether a review is approved under the current rules. */
  async judge(project: Project, review: Review): Promise<JudgedReview> {
    const { protection, reviews: { store } } = this.#options;
    const verdicts = await store.verdicts(review);
    const round = await store.newestRound(review);
    const rule = protection.ruleOf(project, review.targetBranch);
    const isApproved = isOpen(review) && statusOf(verdicts, rule) === "approved";
    const approvals = verdicts.filter(({ verdict }) => verdict === "approved")
      .map(({ reviewer }) => reviewer);
    const progress = describeApprovals(approvalsOf(verdicts, rule));
    const standing = { tip: round?.tip ?? "", approvals };
    const changesChecks = mayChangeChecks(review.filesChanged);
    return { review, isApproved, standing, changesChecks, progress };
  }

  /** The checks that an open review's merge requires, as they stand for its newest check-in. */
  async requiredChecks(
    project: Project,
    { review, rounds }: Pick<ReviewDetail, "review" | "rounds">,
  ): Promise<readonly RequiredCheck[]> {
    const { protection, repositories, workspaces } = this.#options;
    const checkin = rounds.at(-1)?.tip;
    const branch = review.targetBranch;
    const isRequired = protection.ruleOf(project, branch).contexts.length > 0;
    if (!isOpen(review) || checkin === undefined || !isRequired) return [];
    const base = await repositories.read(project, (repository) => repository.branchTip(branch));
    const owner = (await workspaces.get(review.workspace?.id ?? ""))?.owner;
    const subjects = [review.author, ...owner === undefined ? [] : [owner]];
    return await protection.requiredChecks(project, branch, { checkin, base, subjects });
  }

  /** @throws Conflict if a review is not approved, or waits in the landing queue */
  async #requireApproved(project: Project, review: Review): Promise<JudgedReview> {
    if (!isOpen(review)) throw new Conflict(`Review is already ${review.status}`);
    const judged = await this.judge(project, review);
    if (!judged.isApproved) {
      throw new Conflict(`Review must be approved before merging: it has ${judged.progress}`);
    }
    if (await this.#landings.openOf(review.id) !== null) {
      throw new Conflict("The review is in the landing queue: take it out first");
    }
    return judged;
  }

  /**
   * Lets a merge of a workspace pass if its review is approved at this check-in; returns the ticket that
   * the review resolves.
   */
  async #gate(
    { project, workspace, target, tip, isAdmin, extra }: GatedMerge,
  ): Promise<readonly string[]> {
    const { reviews, protection } = this.#options;
    const id = reviewIn(extra);
    const review = id === null
      ? await reviews.store.newestOf(workspace.id)
      : await reviews.store.get(id);
    const isLinked = review !== null && isOpen(review);
    const judged = !isLinked
      ? null
      : id === null
      ? await this.#requireLinked(project, review, tip)
      : await this.#requireApproved(project, review);
    if (judged !== null && judged.standing.tip !== tip) {
      throw new Conflict("The workspace has a check-in that the review does not show", { tip });
    }
    if (isLinked && review.targetBranch !== target) {
      throw new Conflict(`The review is of a merge into "${review.targetBranch}"`);
    }
    const standing = judged?.standing ?? null;
    const subjects = [workspace.owner, ...isLinked ? [review.author] : []];
    const changesChecks = judged?.changesChecks ??
      await this.#changesChecks(project, workspace, target);
    const question = { project, branch: target, isAdmin, tip, subjects, review: standing };
    await protection.require({ ...question, changesChecks, action: "merge" });
    return isLinked && review.ticket !== null ? [review.ticket] : [];
  }

  /** Whether the merge of a workspace without a review changes the checks of a protected branch. */
  async #changesChecks(
    project: Project,
    workspace: GatedMerge["workspace"],
    target: string,
  ): Promise<boolean> {
    const { protection, workspaces } = this.#options;
    if (protection.ruleOf(project, target).patterns.length === 0) return false;
    const { files } = await workspaces.files(
      project,
      await workspaces.line(project, workspace, target),
    );
    return mayChangeChecks(pathsOf(files));
  }

  /** Requires approval for a merge through the workspace's own endpoint. */
  async #requireLinked(project: Project, review: Review, tip: string): Promise<JudgedReview> {
    const judged = await this.judge(project, review);
    if (judged.isApproved && judged.standing.tip === tip) {
      return await this.#requireApproved(project, review);
    }
    const status = judged.isApproved ? "pending" : review.status;
    throw new Forbidden(
      `Linked code review is '${status}', must be approved before merging`,
    );
  }

  /** Updates a workspace's reviews when the workspace ends. */
  async #onChanged(change: WorkspaceChange): Promise<Change> {
    const { action, project, workspace, checkin, extra, origin, now } = change;
    if (action !== "merged" && action !== "abandoned") return {};
    const { store, statements } = this.#options.reviews;
    const id = reviewIn(extra);
    const review = id === null ? await store.newestOf(workspace.id) : await store.get(id);
    if (review === null || !isOpen(review)) return {};
    if (action === "merged") {
      const { ticket } = workspace;
      return await this.#mergedChange(project, review, { origin, now, checkin, ended: ticket });
    }
    const event = { status: "closed", action: "closed", by: { origin, now } } as const;
    return {
      statements: [statements.status(review, "closed", now)],
      events: [statements.event(project, review, event)],
    };
  }

  async #mergedChange(
    project: Project,
    review: Review,
    { checkin, ended, origin, now }: Pick<WorkspaceChange, "checkin" | "origin" | "now"> & {
      /** The ticket whose claim the workspace's merge has already ended. */
      readonly ended: string | null;
    },
  ): Promise<Change> {
    const { claims, reviews: { statements } } = this.#options;
    const { ticket, author: owner } = review;
    const claim = ticket === null || ticket === ended
      ? {}
      : await claims.merged(project, { ticket, owner, origin, now });
    const event = { status: "merged", action: "merged", by: { origin, now } } as const;
    return {
      statements: [statements.merged(review, checkin, now), ...claim.statements ?? []],
      events: [statements.event(project, review, event), ...claim.events ?? []],
    };
  }
}

/** Whether files have what defines checks among them. Of too many, not all are known. */
function mayChangeChecks(files: readonly string[]): boolean {
  return files.length >= MAX_FILES || files.some(definesChecks);
}

/** The comment of a review's merge. */
function messageOf({ number, title, ticket }: Review): string {
  const resolved = ticket === null ? "" : ` [${ticket.slice(0, 10)}]`;
  return `Merge review ${number}: ${title}${resolved}`;
}

function reviewIn(extra: unknown): string | null {
  return typeof extra === "object" && extra !== null && "review" in extra &&
      typeof extra.review === "string"
    ? extra.review
    : null;
}
