import type { Selectable } from "kysely";
import type { Tables } from "../database/mod.ts";
import type { Actor } from "../projects/mod.ts";

/** Longest title, in characters. */
export const MAX_TITLE = 300;

/** Longest comment, in characters. */
export const MAX_BODY = 60_000;

export type ReviewStatus = "pending" | "approved" | "changes_requested" | "merged" | "closed";

/** A review. Times are Unix milliseconds. */
export interface Review {
  readonly id: string;
  readonly projectId: string;
  /** The review's id in the API. */
  readonly number: number;
  readonly title: string;
  readonly description: string;
  readonly status: ReviewStatus;
  readonly author: Actor;
  /** Null if the change is the author's own diff. */
  readonly workspace: { readonly id: string; readonly name: string } | null;
  readonly ticket: string | null;
  readonly targetBranch: string;
  /** The newest round, from 1. */
  readonly round: number;
  readonly filesChanged: readonly string[];
  readonly commentCount: number;
  readonly mergedAs: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** An open review, with the accounts whose verdicts it waits for. */
export interface AwaitedReview {
  readonly review: Review;
  readonly reviewers: readonly string[];
}

/** A round of a review: check-ins by their whole ids. */
export interface Round {
  readonly round: number;
  readonly base: string;
  readonly tip: string;
  readonly startedAt: number;
}

/** A standing verdict. */
export interface Verdict {
  readonly reviewId: string;
  readonly round: number;
  readonly reviewer: Actor;
  readonly verdict: "approved" | "changes_requested";
  readonly givenAt: number;
}

export interface Comment {
  /** From 1 in each review. */
  readonly number: number;
  readonly round: number;
  readonly author: Pick<Actor, "key" | "name">;
  readonly body: string;
  readonly path: string | null;
  readonly side: "old" | "new" | null;
  readonly line: number | null;
  readonly createdAt: number;
}

/** Whether a review is neither merged nor closed. */
export function isOpen({ status }: Pick<Review, "status">): boolean {
  return status !== "merged" && status !== "closed";
}

/** @param row without its diff, which can be large */
export function reviewOf(row: Omit<Selectable<Tables["reviews"]>, "diff">): Review {
  return {
    id: row.id,
    projectId: row.project_id,
    number: row.number,
    title: row.title,
    description: row.description,
    status: row.status,
    author: { key: row.author_key, name: row.author_name, kind: row.author_kind as Actor["kind"] },
    workspace: row.workspace_id === null
      ? null
      : { id: row.workspace_id, name: row.workspace ?? "" },
    ticket: row.ticket,
    targetBranch: row.target_branch,
    round: row.round,
    filesChanged: JSON.parse(row.files_changed),
    commentCount: row.comment_count,
    mergedAs: row.merged_as,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function roundOf(row: Selectable<Tables["review_rounds"]>): Round {
  return { round: row.round, base: row.base, tip: row.tip, startedAt: row.started_at };
}

export function verdictOf(row: Selectable<Tables["review_verdicts"]>): Verdict {
  return {
    reviewId: row.review_id,
    round: row.round,
    reviewer: {
      key: row.reviewer_key,
      name: row.reviewer_name,
      kind: row.reviewer_kind as Actor["kind"],
    },
    verdict: row.verdict,
    givenAt: row.given_at,
  };
}

export function commentOf(row: Selectable<Tables["review_comments"]>): Comment {
  return {
    number: row.number,
    round: row.round,
    author: { key: row.author_key, name: row.author_name },
    body: row.body,
    path: row.path,
    side: row.side,
    line: row.line,
    createdAt: row.created_at,
  };
}
