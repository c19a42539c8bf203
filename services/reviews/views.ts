import type { LinePlace } from "../fossil/mod.ts";
import type { QueuedLanding } from "./landing_queue.ts";
import type { Comment, Review, Round, Verdict } from "./records.ts";
import type { RoundDiff } from "./round_diff.ts";
import type { Approvals } from "./verdicts.ts";

/** A review with its diff, verdicts and comments. */
export interface ReviewDetail {
  readonly review: Review;
  readonly reviewers: readonly string[];
  readonly rounds: readonly Round[];
  readonly comments: readonly Comment[];
  readonly verdicts: readonly Verdict[];
  /** Also those that were withdrawn, oldest first. */
  readonly verdictHistory: readonly Verdict[];
  readonly approvals: Approvals;
  /** The diff of the newest round. */
  readonly diff: string;
  readonly isTruncated: boolean;
  /** The lines of comments in the newest round, by the comment's number. */
  readonly places: ReadonlyMap<number, LinePlace>;
}

/**
 * A review as lists show it.
 *
 * @param reviewers names of those who were asked for a verdict
 */
export function viewOfReview(review: Review, reviewers: readonly string[]) {
  return {
    id: review.number,
    title: review.title,
    description: review.description,
    status: review.status,
    agent_id: review.author.name,
    reviewers,
    files_changed: review.filesChanged,
    comment_count: review.commentCount,
    workspace: review.workspace?.name ?? null,
    ticket_uuid: review.ticket ?? "",
    target_branch: review.targetBranch,
    round: review.round,
    merged_as: review.mergedAs,
    created_at: timeOf(review.createdAt),
    updated_at: timeOf(review.updatedAt),
  };
}

/** A single review in full. */
export function viewOfDetail(detail: ReviewDetail) {
  const { review, rounds, verdicts, approvals, comments, diff, isTruncated, places } = detail;
  const newest = rounds.at(-1) ?? null;
  const { any, people, required } = approvals;
  return {
    ...viewOfReview(review, detail.reviewers),
    diff,
    is_truncated: isTruncated,
    base: newest?.base ?? null,
    tip: newest?.tip ?? null,
    approvals: { any, people, required },
    verdicts: verdicts.map(viewOfVerdict),
    verdict_history: detail.verdictHistory.map(viewOfVerdict),
    rounds: rounds.map(({ round, base, tip, startedAt }) => ({
      round,
      base,
      tip,
      started_at: timeOf(startedAt),
    })),
    comments: comments.map((comment) => viewOfComment(comment, places.get(comment.number) ?? null)),
  };
}

function viewOfVerdict({ reviewer, verdict, round, givenAt }: Verdict) {
  return {
    agent_id: reviewer.name,
    kind: reviewer.kind,
    verdict,
    round,
    given_at: timeOf(givenAt),
  };
}

/**
 * A comment with its original place.
 *
 * @param place its line in the newest round; null if the line is gone
 */
export function viewOfComment(comment: Comment, place: LinePlace | null) {
  return {
    id: comment.number,
    body: comment.body,
    file_path: comment.path ?? "",
    line_number: comment.line,
    side: comment.side,
    round: comment.round,
    current: place === null ? null : { file_path: place.path, line_number: place.line },
    author: comment.author.name,
    created_at: timeOf(comment.createdAt),
  };
}

export function viewOfRoundDiff({ from, to, diff, isTruncated, files, total }: RoundDiff) {
  return { from, to, diff, is_truncated: isTruncated, files, total };
}

/** A landing with its place in the queue. */
export function viewOfLanding({ landing, position, checks }: QueuedLanding) {
  const { reason, queuedAt, endedAt } = landing;
  return {
    review: landing.review,
    title: landing.title,
    agent_id: landing.author,
    target_branch: landing.targetBranch,
    status: landing.status,
    position,
    candidate: landing.candidate,
    base: landing.base,
    reason: reason?.message ?? null,
    conflicts: reason?.conflicts ?? [],
    contexts: reason?.contexts ??
      checks.filter(({ state }) => state !== "success").map(({ context }) => context),
    checks,
    queued_by: landing.queuedBy.name,
    queued_at: timeOf(queuedAt),
    ended_at: endedAt === null ? null : timeOf(endedAt),
  };
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
