import { generationField } from "../../services/tickets/schemas.ts";
import { pageOf, pageParameters, rangeOf } from "../../services/projects/schemas.ts";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { accountKeyOf } from "../../services/projects/mod.ts";
import {
  type Comment,
  viewOfComment,
  viewOfDetail,
  viewOfReview,
  viewOfRoundDiff,
} from "../../services/reviews/mod.ts";
import { newCommentSchema, newReviewSchema } from "../../services/reviews/schemas.ts";
import { newRoutes } from "../context.ts";
import { json, jsonRequest, wholeNumber } from "../schemas.ts";
import { numberOf, reviewParams, reviewRequestOf } from "./review_requests.ts";
import { reviewVerdictRoutes } from "./review_verdicts.ts";
import { whitespaceParameter } from "./reading_schemas.ts";
import { projectErrors, projectRoute } from "./route.ts";
import {
  commentSchema,
  REVIEW_STATUSES,
  reviewConflict,
  reviewDetailSchema,
  reviewListSchema,
  reviewSchema,
  roundDiffSchema,
} from "./review_schemas.ts";

/** Most files on a page of a diff. */
const MAX_FILES = 1000;

const listReviews = projectRoute("GET /api/reviews", {
  summary: "Reviews, newest first",
  request: {
    query: z.object({
      ...pageParameters,
      status: z.enum(REVIEW_STATUSES, { error: `must be one of ${REVIEW_STATUSES.join(", ")}` })
        .optional(),
      state: z.enum(["open", "closed"], { error: 'must be "open" or "closed"' }).optional().openapi(
        {
          description: "Only reviews that are neither merged nor closed, or only the others",
        },
      ),
      author: z.string().min(1).max(200).optional().openapi({
        description: "Only reviews by this account; `me` is the caller",
      }),
      ticket: z.string().regex(/^[0-9a-f]{40,64}$/, { error: "must be the whole id of a ticket" })
        .optional().openapi({ description: "Only reviews that resolve this ticket" }),
      workspace: z.string().min(1).max(199).optional().openapi({
        description: "Only reviews of workspaces of this name",
      }),
      waiting_for: z.string().min(1).max(200).optional().openapi({
        description: "Open reviews for which this account was asked and has given no verdict on " +
          "the newest round; `me` is the caller",
      }),
    }),
  },
  responses: {
    200: json(reviewListSchema, "A page of reviews"),
    ...projectErrors(400),
  },
});

const getReview = projectRoute("GET /api/reviews/{id}", {
  summary: "A review with its diff, verdicts and comments",
  request: {
    params: reviewParams,
    query: z.object({
      diff: z.enum(["true", "false"], { error: 'must be "true" or "false"' }).optional().openapi({
        description: "`false` leaves the diff of a review with a workspace empty",
      }),
    }),
  },
  responses: { 200: json(reviewDetailSchema, "The review"), ...projectErrors(400) },
});

const getReviewDiff = projectRoute("GET /api/reviews/{id}/diff", {
  summary: "The changes between two rounds of a review",
  request: {
    params: reviewParams,
    query: z.object({
      from: z.string().regex(/^\d{1,7}$/, { error: "must be the number of a round" })
        .transform(Number).optional().openapi({
          type: "integer",
          minimum: 0,
          description:
            "The earlier round; 0 for the whole change. By default, the round of your last " +
            "verdict, or the whole change if you gave none",
        }),
      to: z.string().regex(/^[1-9]\d{0,6}$/, { error: "must be the number of a round, from 1" })
        .transform(Number).optional().openapi({
          type: "integer",
          minimum: 1,
          description: "The later round; by default, the newest",
        }),
      path: z.string().max(1000).optional().openapi({
        description: "Only this file, or the files in this folder",
      }),
      whitespace: whitespaceParameter,
      page: pageParameters.page,
      per_page: wholeNumber("Files per page; by default, one page has all", 1, MAX_FILES),
    }),
  },
  responses: { 200: json(roundDiffSchema, "The difference"), ...projectErrors(400, 409) },
});

const createReview = projectRoute("POST /api/reviews/create", {
  summary: "Open a review of a workspace, or of your own diff",
  request: {
    body: jsonRequest(
      newReviewSchema.extend({ generation: generationField }).meta({ id: "ReviewRequest" }),
      { title: "Fix the crash", description: "Empty input", workspace: "fix-crash" },
    ),
  },
  responses: {
    201: json(reviewSchema, "The review"),
    ...projectErrors(400, 413, 429),
    ...reviewConflict,
  },
});

const commentOnReview = projectRoute("POST /api/reviews/{id}/comment", {
  summary: "Comment on a review, or on a line of it",
  request: {
    params: reviewParams,
    body: jsonRequest(newCommentSchema.meta({ id: "ReviewCommentRequest" }), {
      body: "Why not a constant?",
      file_path: "main.c",
      line_number: 12,
    }),
  },
  responses: {
    201: json(commentSchema, "The comment"),
    ...projectErrors(400, 413),
    ...reviewConflict,
  },
});

/** `/api/reviews`. */
export function reviewRoutes(services: Pick<Services, "hosting" | "accounts">) {
  const { reviews, reviewMerges } = services.hosting;
  const requestOf = reviewRequestOf(services);
  return newRoutes()
    .openapi(listReviews, async (context) => {
      const { project } = context.get("access");
      const { status, state, author, ticket, workspace, waiting_for, ...page } = context.req.valid(
        "query",
      );
      const keyOf = (name: string | undefined) =>
        accountKeyOf(name, context.get("access"), services.accounts);
      const filter = {
        status,
        isOpen: state === undefined ? undefined : state === "open",
        author: keyOf(author),
        ticket,
        workspace,
        waitingFor: keyOf(waiting_for),
        ...rangeOf(page),
      };
      const found = await reviews.store.list(project.id, filter);
      const reviewers = await reviews.reviewers.of(found.reviews);
      const views = found.reviews.map((one) => viewOfReview(one, reviewers.get(one.id) ?? []));
      return context.json({ reviews: views, ...pageOf(page, found.total) }, 200);
    })
    .openapi(getReview, async (context) => {
      const { project } = context.get("access");
      const hasDiff = context.req.valid("query").diff !== "false";
      const detail = await reviews.detail(project, numberOf(context), { hasDiff });
      const required = await reviewMerges.requiredChecks(project, detail);
      return context.json({ ...viewOfDetail(detail), required_checks: [...required] }, 200);
    })
    .openapi(getReviewDiff, async (context) => {
      const { project, principal } = context.get("access");
      const actor = principal.kind === "guest" ? null : requestOf(context, undefined).actor;
      const { from, to, path, page, per_page, whitespace } = context.req.valid("query");
      const query = {
        from,
        to,
        actor,
        ...(whitespace === "ignore" ? { ignoresWhitespace: true } : {}),
        ...(path === undefined ? {} : { path }),
        ...(per_page === undefined ? {} : rangeOf({ page, per_page })),
      };
      const diff = await reviews.diff(project, numberOf(context), query);
      return context.json({ id: numberOf(context), ...viewOfRoundDiff(diff) }, 200);
    })
    .openapi(createReview, async (context) => {
      const { project } = context.get("access");
      const { generation, agent_id, ...request } = context.req.valid("json");
      const by = requestOf(context, agent_id, generation);
      const review = await reviews.create(project, request, by);
      const reviewers = (await reviews.reviewers.of([review])).get(review.id) ?? [];
      return context.json(viewOfReview(review, reviewers), 201);
    })
    .openapi(commentOnReview, async (context) => {
      const { project } = context.get("access");
      const { agent_id, ...comment } = context.req.valid("json");
      const by = requestOf(context, agent_id);
      const made = await reviews.comment(project, numberOf(context), comment, by);
      return context.json(viewOfComment(made, placeOf(made)), 201);
    })
    .route("/", reviewVerdictRoutes(services));
}

/** The place of a new comment: its own line. */
function placeOf({ path, line }: Comment) {
  return path === null || line === null ? null : { path, line };
}
