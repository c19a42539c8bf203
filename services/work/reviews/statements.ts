import {
  type Database,
  type NewEvent,
  type Statement,
  statement,
} from "../../engines/database/mod.ts";
import type { Origin } from "../../engines/events/mod.ts";
import { type Actor, type Project, projectEvent } from "../projects/mod.ts";
import { newUlid } from "../../kernel/ulid.ts";
import type { NewComment } from "./schemas.ts";
import type { Review, ReviewStatus, Round, Verdict } from "./records.ts";

/** Who caused a change, and when, in Unix milliseconds. */
export interface By {
  readonly origin: Origin;
  readonly now: number;
  /** The actor's name, if it differs from the origin's. */
  readonly name?: string;
}

/** A change of a review, as its event names it. */
export type ReviewAction =
  | "created"
  | "requested"
  | "request_withdrawn"
  | "commented"
  | "approved"
  | "changes_requested"
  | "round"
  | "merged"
  | "closed";

/** The statements and events of changes of reviews. None of the statements can be refused. */
export class ReviewStatements {
  readonly #tables: Database["tables"];

  constructor(database: Pick<Database, "tables">) {
    this.#tables = database.tables;
  }

  insert(review: Review, diff: string | null, round: Round | null): Statement[] {
    const { author, workspace } = review;
    const insertion = this.#tables.insertInto("reviews").values({
      id: review.id,
      project_id: review.projectId,
      number: review.number,
      title: review.title,
      description: review.description,
      status: review.status,
      author_key: author.key,
      author_name: author.name,
      author_kind: author.kind,
      workspace_id: workspace?.id ?? null,
      workspace: workspace?.name ?? null,
      ticket: review.ticket,
      target_branch: review.targetBranch,
      round: review.round,
      diff,
      files_changed: JSON.stringify(review.filesChanged),
      comment_count: 0,
      merged_as: null,
      created_at: review.createdAt,
      updated_at: review.updatedAt,
    });
    return [statement(insertion), ...(round === null ? [] : [this.#round(review, round)])];
  }

  /** Starts the next round, which withdraws every verdict. */
  nextRound(review: Review, round: Round, filesChanged: readonly string[]): Statement[] {
    const update = this.#tables.updateTable("reviews").set({
      round: round.round,
      status: "pending",
      files_changed: JSON.stringify(filesChanged),
      updated_at: round.startedAt,
    }).where("id", "=", review.id);
    return [
      this.#round(review, round),
      this.withdraw(review, round.startedAt),
      statement(update),
    ];
  }

  /** Adds a verdict in place of the reviewer's standing one. */
  verdict({ reviewId, round, reviewer, verdict, givenAt }: Verdict): Statement[] {
    const withdrawal = this.#tables.updateTable("review_verdicts").set({ withdrawn_at: givenAt })
      .where("review_id", "=", reviewId).where("reviewer_key", "=", reviewer.key)
      .where("withdrawn_at", "is", null);
    const insertion = this.#tables.insertInto("review_verdicts").values({
      id: newUlid(givenAt),
      review_id: reviewId,
      round,
      reviewer_key: reviewer.key,
      reviewer_name: reviewer.name,
      reviewer_kind: reviewer.kind,
      verdict,
      given_at: givenAt,
      withdrawn_at: null,
    });
    return [statement(withdrawal), statement(insertion)];
  }

  /** Withdraws the standing verdicts, or only the approvals. */
  withdraw({ id }: Pick<Review, "id">, now: number, which?: "approved"): Statement {
    const update = this.#tables.updateTable("review_verdicts").set({ withdrawn_at: now })
      .where("review_id", "=", id).where("withdrawn_at", "is", null)
      .$if(which !== undefined, (query) => query.where("verdict", "=", which!));
    return statement(update);
  }

  status({ id }: Pick<Review, "id">, status: ReviewStatus, now: number): Statement {
    const update = this.#tables.updateTable("reviews").set({ status, updated_at: now });
    return statement(update.where("id", "=", id));
  }

  /** @param checkin the merge; null if there was no workspace to merge */
  merged({ id }: Pick<Review, "id">, checkin: string | null, now: number): Statement {
    const update = this.#tables.updateTable("reviews")
      .set({ status: "merged", merged_as: checkin, updated_at: now }).where("id", "=", id);
    return statement(update);
  }

  comment(
    review: Review,
    { body, file_path, line_number, side }: Omit<NewComment, "agent_id">,
    { author, now }: { readonly author: Actor; readonly now: number },
  ): Statement[] {
    const number = review.commentCount + 1;
    const insertion = this.#tables.insertInto("review_comments").values({
      review_id: review.id,
      number,
      round: review.round,
      author_key: author.key,
      author_name: author.name,
      body,
      path: file_path === "" ? null : file_path,
      side: file_path === "" ? null : side,
      line: line_number,
      created_at: now,
    });
    const update = this.#tables.updateTable("reviews")
      .set({ comment_count: number, updated_at: now }).where("id", "=", review.id);
    return [statement(insertion), statement(update)];
  }

  event(
    project: Project,
    review: Review,
    { status, action, round = review.round, reviewers = [], comment = null, by }: {
      readonly status: ReviewStatus;
      readonly action: ReviewAction;
      readonly round?: number;
      /** Names of those for whom the review waits from now on, or no longer. */
      readonly reviewers?: readonly string[];
      readonly comment?: number | null;
      readonly by: By;
    },
  ): NewEvent {
    const { number, title, author, workspace, ticket } = review;
    return projectEvent(project, "project.review", {
      id: number,
      title,
      status,
      workspace: workspace?.name ?? null,
      ticket,
      ticket_uuid: ticket,
      agent: author.name,
      agent_id: author.name,
      round,
      action,
      reviewers,
      comment,
      by: by.name ?? by.origin.actor.replace(/^[a-z]+:/, ""),
    }, { origin: by.origin, time: by.now });
  }

  #round({ id }: Pick<Review, "id">, { round, base, tip, startedAt }: Round): Statement {
    const insertion = this.#tables.insertInto("review_rounds")
      .values({ review_id: id, round, base, tip, started_at: startedAt })
      .onConflict((conflict) => conflict.doNothing());
    return statement(insertion);
  }
}
