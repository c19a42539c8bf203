import { z } from "zod";
import { whitespaceParameter } from "../code/schemas.ts";
import { Conflict, TooMany } from "../../kernel/errors.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { type Checks, type CheckWaits, statusOf } from "../checks/mod.ts";
import { accountKeyOf, actorOf } from "../projects/mod.ts";
import { Created, operation, type OperationCall } from "../projects/operation.ts";
import { pageOf, pageParameters, rangeOf } from "../projects/schemas.ts";
import { waitSchema, wholeNumber } from "../../kernel/validation/schemas.ts";
import { generationField, OF_GENERATION } from "../tickets/schemas.ts";
import type { LinePlace } from "../../engines/fossil/mod.ts";
import type { LandingQueue, QueuedLanding } from "./landing_queue.ts";
import type { ReviewMerges } from "./merges.ts";
import {
  type Comment,
  type Review,
  REVIEW_STATUSES,
  type ReviewDetail,
  type ReviewRequest,
  type Verdict,
} from "./records.ts";
import type { Reviews } from "./reviews.ts";
import type { RoundDiff } from "./rounds.ts";
import {
  actingSchema,
  givenApprovalSchema,
  landingListSchema,
  landingStatusSchema,
  mergedReviewSchema,
  newCommentSchema,
  newReviewSchema,
  reviewChecksSchema,
  reviewCommentSchema,
  reviewConflictSchema,
  reviewDetailSchema,
  reviewersSchema,
  reviewListSchema,
  reviewSchema,
  reviewStateSchema,
  roundDiffSchema,
  verdictSchema,
} from "./schemas.ts";

/** Most files on a page of a diff. */
const MAX_FILES = 1000;

/** What the operations on reviews and on the landing queue call. */
interface ReviewServices {
  readonly hosting: {
    readonly reviews: Reviews;
    readonly reviewMerges: ReviewMerges;
    readonly landing: LandingQueue;
    readonly checks: Pick<Checks, "list">;
    readonly checkWaits: CheckWaits;
  };
  readonly accounts: Pick<AccountDirectory, "find" | "session">;
}

/** The review that a request names. Anything but a number is the number of none. */
const byNumber = z.object({
  id: z.union([z.string(), z.int()])
    .transform((id) => /^[1-9]\d{0,9}$/.test(String(id)) ? Number(id) : 0)
    .meta({ type: "integer", minimum: 1 }),
});

/** What tools say about the review that a call names. */
const ofReview = { review: z.int().min(1).describe("Its number") };
const names = { review: "id" };
const OF_ROUND = "The round that you read: fails if there is a newer one";
const FIND = { notFound: "list_reviews shows the reviews" };

/** A request that ends a review, or lets its workspace land. */
const ending = byNumber.extend({ ...actingSchema.shape, generation: generationField });

const inConflict = { error: Conflict, schema: reviewConflictSchema };

function requestOf(
  { accounts }: ReviewServices,
  { access, caller }: OperationCall,
  { agent_id, generation }: Partial<Pick<z.output<typeof ending>, "agent_id" | "generation">> = {},
): ReviewRequest {
  const { isAdmin } = access;
  return { caller, actor: actorOf(access, agent_id, accounts), isAdmin, generation };
}

export const listReviews = operation({
  http: "GET /api/reviews",
  needs: "read",
  summary: "Reviews, newest first",
  input: z.object({
    ...pageParameters,
    status: z.enum(REVIEW_STATUSES, { error: `must be one of ${REVIEW_STATUSES.join(", ")}` })
      .optional(),
    state: z.enum(["open", "closed"], { error: 'must be "open" or "closed"' }).optional().meta({
      description: "Only reviews that are neither merged nor closed, or only the others",
    }),
    author: z.string().min(1).max(200).optional().meta({
      description: "Only reviews by this account; `me` is the caller",
    }),
    ticket: z.string().regex(/^[0-9a-f]{40,64}$/, { error: "must be the whole id of a ticket" })
      .optional().meta({ description: "Only reviews that resolve this ticket" }),
    workspace: z.string().min(1).max(199).optional().meta({
      description: "Only reviews of workspaces of this name",
    }),
    waiting_for: z.string().min(1).max(200).optional().meta({
      description: "Open reviews for which this account was asked and has given no verdict on " +
        "the newest round; `me` is the caller",
    }),
  }),
  ok: { schema: reviewListSchema, description: "A page of reviews" },
}, async ({ hosting: { reviews }, accounts }: ReviewServices, input, { project, access }) => {
  const { status, state, author, ticket, workspace, waiting_for, ...page } = input;
  const found = await reviews.store.list(project.id, {
    status,
    isOpen: state === undefined ? undefined : state === "open",
    author: accountKeyOf(author, access, accounts),
    ticket,
    workspace,
    waitingFor: accountKeyOf(waiting_for, access, accounts),
    ...rangeOf(page),
  });
  return { reviews: await shown(reviews, found.reviews), ...pageOf(page, found.total) };
});

export const getReview = operation({
  http: "GET /api/reviews/{id}",
  needs: "read",
  summary: "A review with its diff, verdicts and comments",
  input: byNumber.extend({
    diff: z.enum(["true", "false"], { error: 'must be "true" or "false"' }).optional().meta({
      description: "`false` leaves the diff of a review with a workspace empty",
    }),
  }),
  ok: { schema: reviewDetailSchema, description: "The review" },
}, async ({ hosting: { reviews, reviewMerges } }: ReviewServices, { id, diff }, { project }) => {
  const detail = await reviews.detail(project, id, { hasDiff: diff !== "false" });
  const required_checks = await reviewMerges.requiredChecks(project, detail);
  return { ...viewOfDetail(detail), required_checks };
});

export const getReviewChecks = operation({
  http: "GET /api/reviews/{id}/checks",
  needs: "read",
  waits: "if asked",
  summary: "The checks of a review's newest check-in, once none of them is pending if you wait",
  input: byNumber.extend({ wait_seconds: waitSchema }),
  ok: {
    schema: reviewChecksSchema,
    description: "The newest reports, and the checks that the target branch demands",
  },
  refusals: [{ error: TooMany }],
}, async ({ hosting }: ReviewServices, { id, wait_seconds: seconds = 0 }, call) => {
  const { project, caller, end } = call;
  const { reviews, reviewMerges, checks, checkWaits } = hosting;
  const status = await checkWaits.read(project, caller.principal, {
    async read() {
      const review = await reviews.require(project, id);
      const rounds = await reviews.store.rounds(review);
      const required_checks = await reviewMerges.requiredChecks(project, { review, rounds });
      const checkin = rounds.at(-1)?.tip ?? null;
      const status = checkin === null
        ? NO_CHECKS
        : await statusOf(checks, project, checkin, required_checks);
      return { id, ...status, required_checks };
    },
    names: ["status", "review"],
    concerns: ({ name, data }) => name === "status" || data["review"] === id,
  }, { seconds, end });
  if (seconds > 0) await caller.confirm?.();
  return status;
});

/** The checks of a review that has no check-in. */
const NO_CHECKS = {
  checkin: null,
  state: "unknown" as const,
  failed: [],
  waiting_for: [],
  checks: [],
};

export const getReviewDiff = operation({
  http: "GET /api/reviews/{id}/diff",
  needs: "read",
  summary: "The changes between two rounds of a review",
  input: byNumber.extend({
    from: round(/^\d{1,7}$/, "must be the number of a round").meta({
      type: "integer",
      minimum: 0,
      description: "The earlier round; 0 for the whole change. By default, the round of your " +
        "last verdict, or the whole change if you gave none",
    }),
    to: round(/^[1-9]\d{0,6}$/, "must be the number of a round, from 1").meta({
      type: "integer",
      minimum: 1,
      description: "The later round; by default, the newest",
    }),
    path: z.string().max(1000).optional().meta({
      description: "Only this file, or the files in this folder",
    }),
    whitespace: whitespaceParameter,
    page: pageParameters.page,
    per_page: wholeNumber("Files per page; by default, one page has all", 1, MAX_FILES),
  }),
  ok: { schema: roundDiffSchema, description: "The difference" },
  refusals: [{ error: Conflict }],
}, async ({ hosting: { reviews }, accounts }: ReviewServices, input, { project, access }) => {
  const { id, from, to, path, whitespace, page, per_page } = input;
  const isGuest = access.principal.kind === "guest";
  const diff = await reviews.diff(project, id, {
    from,
    to,
    actor: isGuest ? null : actorOf(access, undefined, accounts),
    ...(whitespace === "ignore" ? { ignoresWhitespace: true } : {}),
    ...(path === undefined ? {} : { path }),
    ...(per_page === undefined ? {} : rangeOf({ page, per_page })),
  });
  return { id, ...viewOfRoundDiff(diff) };
});

export const createReview = operation({
  http: "POST /api/reviews/create",
  needs: "write",
  summary: "Open a review of a workspace, or of your own diff",
  input: newReviewSchema.extend({ generation: generationField }),
  bodyName: "ReviewRequest",
  example: { title: "Fix the crash", description: "Empty input", workspace: "fix-crash" },
  created: { schema: reviewSchema, description: "The review" },
  refusals: [{ error: TooMany }, inConflict],
}, async (services: ReviewServices, { agent_id, generation, ...request }, call) => {
  const { reviews } = services.hosting;
  const by = requestOf(services, call, { agent_id, generation });
  const review = await reviews.opening.create(call.project, request, by);
  return new Created(await shownOne(reviews, review));
});

export const askReviewers = operation({
  http: "POST /api/reviews/{id}/reviewers",
  needs: "write",
  summary: "Ask further accounts to review a change",
  input: byNumber.extend(reviewersSchema.shape),
  bodyName: "ReviewersRequest",
  example: { reviewers: ["scout"] },
  ok: { schema: reviewSchema, description: "The review" },
  refusals: [{ error: Conflict }],
}, async (services: ReviewServices, { id, reviewers, agent_id }, call) => {
  const { reviews } = services.hosting;
  const by = requestOf(services, call, { agent_id });
  return await shownOne(reviews, await reviews.ask(call.project, id, reviewers, by));
});

export const dropReviewer = operation({
  http: "DELETE /api/reviews/{id}/reviewers/{name}",
  needs: "write",
  summary: "Withdraw the request to a reviewer; for the author, admins and the reviewer",
  input: byNumber.extend({ name: z.string().max(200) }),
  ok: { schema: reviewSchema, description: "The review" },
  refusals: [{ error: Conflict }],
}, async (services: ReviewServices, { id, name }, call) => {
  const { reviews } = services.hosting;
  const by = requestOf(services, call);
  return await shownOne(reviews, await reviews.withdrawRequest(call.project, id, name, by));
});

export const commentOnReview = operation({
  http: "POST /api/reviews/{id}/comment",
  needs: "write",
  mcp: {
    name: "comment_review",
    about: "Comments on a review, or on a line of its diff, without a verdict.",
    names: { ...names, path: "file_path", line: "line_number" },
    takes: {
      ...ofReview,
      body: "The comment, in Markdown",
      path: "The file, for a comment on a line",
      line: z.int().min(1).optional().describe("The line, from 1"),
      side: "Which side's line number; new if absent",
    },
    shows: ["id", "file_path", "line_number", "round"],
    advice: FIND,
  },
  summary: "Comment on a review, or on a line of it",
  input: byNumber.extend(newCommentSchema.shape),
  bodyName: "ReviewCommentRequest",
  example: { body: "Why not a constant?", file_path: "main.c", line_number: 12 },
  created: { schema: reviewCommentSchema, description: "The comment" },
  refusals: [inConflict],
}, async (services: ReviewServices, { id, agent_id, ...comment }, call) => {
  const by = requestOf(services, call, { agent_id });
  const made = await services.hosting.reviews.comment(call.project, id, comment, by);
  return new Created(viewOfComment(made, placeOf(made)));
});

export const approveReview = operation({
  http: "POST /api/reviews/{id}/approve",
  needs: "write",
  mcp: {
    name: "approve_review",
    about: "Approves the newest round of somebody else's review. Read its whole diff first " +
      "(get_review) and name the round that you read. Then land_review or merge_workspace.",
    names,
    takes: { ...ofReview, round: OF_ROUND, comment: "Becomes a comment of the review" },
    hints: { idempotentHint: true },
    advice: {
      ...FIND,
      conflict: "Read it again with get_review",
      forbidden: "Another agent or a person with the right to write approves it",
    },
  },
  summary: "Approve the newest round of somebody else's review",
  input: byNumber.extend(verdictSchema.shape),
  bodyName: "ReviewApproval",
  example: {},
  hasOptionalBody: true,
  ok: { schema: givenApprovalSchema, description: "The review's status" },
  refusals: [inConflict],
}, async (services: ReviewServices, { id, agent_id, ...verdict }, call) => {
  const { reviews, reviewMerges } = services.hosting;
  const by = requestOf(services, call, { agent_id });
  const given = { ...verdict, verdict: "approved" } as const;
  const review = await reviews.giveVerdict(call.project, id, given, by);
  const { isApproved, progress } = await reviewMerges.judge(call.project, review);
  return { ...stateOf(review), ...(isApproved ? {} : { reason: `It has ${progress}` }) };
});

export const requestChanges = operation({
  http: "POST /api/reviews/{id}/request-changes",
  needs: "write",
  mcp: {
    name: "request_changes",
    about: "Refuses the newest round of a review and says what to change; earlier approvals end. " +
      "Its author is notified. Comments on lines go through comment_review first.",
    names,
    takes: {
      ...ofReview,
      comment: verdictSchema.shape.comment.unwrap().describe("What must change"),
      round: OF_ROUND,
    },
    hints: { idempotentHint: true },
    advice: { ...FIND, conflict: "Read it again with get_review" },
  },
  summary: "Request changes; withdraws the approvals",
  input: byNumber.extend(verdictSchema.shape),
  bodyName: "ReviewChangeRequest",
  example: { comment: "Please add a test" },
  hasOptionalBody: true,
  ok: { schema: reviewStateSchema, description: "The review's status" },
  refusals: [inConflict],
}, async (services: ReviewServices, { id, agent_id, ...verdict }, call) => {
  const by = requestOf(services, call, { agent_id });
  const given = { ...verdict, verdict: "changes_requested" } as const;
  return stateOf(await services.hosting.reviews.giveVerdict(call.project, id, given, by));
});

export const closeReview = operation({
  http: "POST /api/reviews/{id}/close",
  needs: "write",
  whileFull: true,
  mcp: {
    name: "close_review",
    about: "Closes your review without merging it. It cannot be opened again.",
    names,
    takes: { ...ofReview, generation: OF_GENERATION },
    hints: { destructiveHint: true },
    advice: FIND,
  },
  summary: "Close a review without a merge; for its author, its workspace's owner and admins",
  input: ending,
  bodyName: "ReviewActor",
  example: {},
  hasOptionalBody: true,
  ok: { schema: reviewStateSchema, description: "The review's status" },
  refusals: [inConflict],
}, async (services: ReviewServices, { id, ...acting }, call) => {
  const by = requestOf(services, call, acting);
  return stateOf(await services.hosting.reviews.close(call.project, id, by));
});

export const mergeReview = operation({
  http: "POST /api/reviews/{id}/merge",
  needs: "write",
  summary: "Merge an approved review, at exactly the approved check-in",
  input: ending,
  bodyName: "ReviewMerge",
  example: {},
  hasOptionalBody: true,
  ok: { schema: mergedReviewSchema, description: "Merged" },
  refusals: [inConflict],
}, async (services: ReviewServices, { id, ...acting }, call) => {
  const by = requestOf(services, call, acting);
  const { review, checkin } = await services.hosting.reviewMerges.merge(call.project, id, by);
  return { ...stateOf(review), checkin };
});

export const landReview = operation({
  http: "POST /api/reviews/{id}/land",
  needs: "write",
  summary: "Put an approved review in the landing queue of its target branch",
  input: ending,
  bodyName: "LandingRequest",
  example: {},
  hasOptionalBody: true,
  ok: { schema: landingStatusSchema, description: "Its place in the queue" },
  isAccepted: true,
  refusals: [inConflict],
}, async (services: ReviewServices, { id, ...acting }, call) => {
  const by = requestOf(services, call, acting);
  const { landing, position } = await services.hosting.landing.land(call.project, id, by);
  return { id, status: landing.status, position };
});

export const withdrawLanding = operation({
  http: "DELETE /api/reviews/{id}/land",
  needs: "write",
  summary: "Take a review out of the landing queue",
  input: ending,
  bodyName: "LandingRequest",
  example: {},
  hasOptionalBody: true,
  ok: { schema: landingStatusSchema, description: "Withdrawn" },
  refusals: [inConflict],
}, async (services: ReviewServices, { id, ...acting }, call) => {
  await services.hosting.landing.withdraw(call.project, id, requestOf(services, call, acting));
  return { id, status: "returned" as const, position: null };
});

export const listLandings = operation({
  http: "GET /api/landing",
  needs: "read",
  mcp: {
    name: "get_landing_queue",
    about: "Shows the landing queue in its order, with the checks that are awaited, then the " +
      "latest reviews that landed or came back, with the reason.",
    list: { field: "landing", noun: "landings", limit: 25 },
  },
  summary: "The landing queue in its order, then the latest ended landings",
  input: z.object(pageParameters),
  ok: { schema: landingListSchema, description: "The queue" },
}, async ({ hosting: { landing } }: ReviewServices, page, { project }) => {
  const list = await landing.list(project);
  const { offset, limit } = rangeOf(page);
  const listed = list.slice(offset, offset + limit).map(viewOfLanding);
  return { landing: listed, ...pageOf(page, list.length) };
});

/** The number of a round in a query. */
function round(pattern: RegExp, error: string) {
  const written = z.union([z.string(), z.int()]).refine((text) => pattern.test(String(text)), {
    error,
  });
  return written.transform(Number).optional();
}

async function shown(reviews: Reviews, some: readonly Review[]) {
  const reviewers = await reviews.reviewers.of(some);
  return some.map((one) => viewOfReview(one, reviewers.get(one.id) ?? []));
}

async function shownOne({ reviewers }: Reviews, review: Review) {
  return viewOfReview(review, (await reviewers.of([review])).get(review.id) ?? []);
}

function stateOf({ number: id, status, title, round }: Review) {
  return { id, status, title, round };
}

/** The place of a new comment: its own line. */
function placeOf({ path, line }: Comment) {
  return path === null || line === null ? null : { path, line };
}

/**
 * A review as lists show it.
 *
 * @param reviewers names of those who were asked for a verdict
 */
function viewOfReview(review: Review, reviewers: readonly string[]) {
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
function viewOfDetail(detail: ReviewDetail) {
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
function viewOfComment(comment: Comment, place: LinePlace | null) {
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

function viewOfRoundDiff({ from, to, diff, isTruncated, files, total }: RoundDiff) {
  return { from, to, diff, is_truncated: isTruncated, files, total };
}

/** A landing with its place in the queue. */
function viewOfLanding({ landing, position, checks }: QueuedLanding) {
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
