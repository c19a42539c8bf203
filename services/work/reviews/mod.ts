/** Reviews in rounds, with verdicts and comments on lines, and the landing queue. */
import type { AccountDirectory } from "../../people/identity/mod.ts";
import type { Claims, Submissions, Tickets } from "../tickets/mod.ts";
import type { Workspaces } from "../workspaces/mod.ts";
import { LandingQueue, type LandingQueueOptions } from "./landing_queue.ts";
import { ReviewMerges } from "./merges.ts";
import { Reviews, type ReviewsOptions } from "./reviews.ts";

export type { LandingQueue } from "./landing_queue.ts";
export type { Landing } from "./landing_store.ts";
export { type AwaitedReview, type Comment, type Review, REVIEW_STATUSES } from "./records.ts";
export type { Reviews } from "./reviews.ts";
export type { ReviewStore } from "./store.ts";

export interface OpenReviewsOptions extends
  Omit<
    ReviewsOptions,
    "clock" | "workspaces" | "protection" | "claims" | "accounts" | "projects"
  >,
  Omit<
    LandingQueueOptions,
    "reviews" | "merges" | "workspaces" | "accounts"
  > {
  readonly accounts: AccountDirectory;
  readonly claims: Claims;
  readonly tickets: Pick<Tickets, "resolve">;
  readonly workspaces: Workspaces;
  readonly submissions: Pick<Submissions, "extend">;
}

/** Reviews, their merges, and the landing queue. */
export interface ReviewServices {
  readonly reviews: Reviews;
  readonly reviewMerges: ReviewMerges;
  readonly landing: LandingQueue;
}

/** Makes the services of reviews. Start the queue after every intention is settled. */
export function openReviews(options: OpenReviewsOptions): ReviewServices {
  const clock = () => options.scheduler.now();
  const reviews = new Reviews({ ...options, clock });
  options.submissions.extend(reviews.opening);
  const merges = new ReviewMerges({ ...options, reviews, clock });
  const landing = new LandingQueue({ ...options, reviews, merges });
  return { reviews, reviewMerges: merges, landing };
}
