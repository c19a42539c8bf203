/** Reviews in rounds, with verdicts and comments on lines, and the landing queue. */
export { type Landing, type Reason } from "./landing_store.ts";
export type { QueuedLanding } from "./landing_queue.ts";
export { openReviews, type OpenReviewsOptions, type ReviewServices } from "./open.ts";
export { type AwaitedReview, type Comment, type Review, type ReviewStatus } from "./records.ts";
export type { ReviewStore } from "./store.ts";
export type { ReviewRequest } from "./request.ts";
export { viewOfComment, viewOfDetail, viewOfReview, viewOfRoundDiff } from "./views.ts";
