/** What a review is, and what its verdicts amount to. */
import type { LinePlace } from "../../engines/fossil/mod.ts";
import type { Caller } from "../../people/identity/mod.ts";
import type { Actor } from "../projects/mod.ts";
import type { BranchRule } from "../protection/mod.ts";

/** Longest title, in characters. */
export const MAX_TITLE = 300;

/** Longest comment, in characters. */
export const MAX_BODY = 60_000;

export const REVIEW_STATUSES = [
  "pending",
  "approved",
  "changes_requested",
  "merged",
  "closed",
] as const;
export type ReviewStatus = (typeof REVIEW_STATUSES)[number];

/** How far a review is on its way to its target branch. */
export const LANDING_STATUSES = ["queued", "testing", "landed", "returned"] as const;

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

/** Who makes a request about a review. */
export interface ReviewRequest {
  readonly caller: Caller;
  readonly actor: Actor;
  /** Whether the caller may administer the project. */
  readonly isAdmin: boolean;
  /** The generation of the claim that the request names. */
  readonly generation?: number | undefined;
}

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

/** Whether a review is neither merged nor closed. */
export function isOpen({ status }: Pick<Review, "status">): boolean {
  return status !== "merged" && status !== "closed";
}

/** Kinds of actors that are people. The operator holds the API token. */
const PEOPLE: ReadonlySet<Actor["kind"]> = new Set(["person", "admin", "operator"]);

/** The valid approvals, and the number required. */
export interface Approvals {
  readonly any: number;
  readonly people: number;
  readonly required: { readonly any: number; readonly people: number };
  readonly isEnough: boolean;
}

type RequiredApprovals = Pick<BranchRule, "approvals">;

/**
 * Counts the approvals among the standing verdicts. At least one is required, whatever the rule
 * says.
 */
export function approvalsOf(verdicts: readonly Verdict[], rule: RequiredApprovals): Approvals {
  const given = verdicts.filter(({ verdict }) => verdict === "approved");
  const any = given.length;
  const people = given.filter(({ reviewer }) => PEOPLE.has(reviewer.kind)).length;
  const required = { any: Math.max(rule.approvals.any, 1), people: rule.approvals.people };
  const isEnough = any >= required.any && people >= required.people;
  return { any, people, required, isEnough };
}

/** What is missing for an approval, such as "1 of 2 approvals, 0 of 1 by people". */
export function describeApprovals({ any, people, required }: Approvals): string {
  const total = `${any} of ${required.any} ${required.any === 1 ? "approval" : "approvals"}`;
  return required.people === 0 ? total : `${total}, ${people} of ${required.people} by people`;
}

/**
 * The status of an open review. A request for changes withdraws the approvals before it; enough
 * approvals after it overrule it.
 */
export function statusOf(verdicts: readonly Verdict[], rule: RequiredApprovals): ReviewStatus {
  if (approvalsOf(verdicts, rule).isEnough) return "approved";
  return verdicts.some(({ verdict }) => verdict === "changes_requested")
    ? "changes_requested"
    : "pending";
}
