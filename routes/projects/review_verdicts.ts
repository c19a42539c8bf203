import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import type { Review } from "../../services/reviews/mod.ts";
import { verdictSchema } from "../../services/reviews/schemas.ts";
import { newRoutes } from "../context.ts";
import { optionalBody } from "../middleware/body.ts";
import { json, optionalJsonRequest } from "../schemas.ts";
import { endingSchema, numberOf, reviewParams, reviewRequestOf } from "./review_requests.ts";
import { REVIEW_STATUSES, reviewConflict } from "./review_schemas.ts";
import { projectErrors, projectRoute } from "./route.ts";

export const statusAnswer = z.object({
  id: z.int(),
  status: z.enum(REVIEW_STATUSES),
  title: z.string(),
  round: z.int(),
}).openapi("ReviewState");

export const approvalAnswer = statusAnswer.extend({
  reason: z.string().optional().openapi({
    description: "What is missing; absent if the review is approved",
    example: "It has 1 of 2 approvals, 0 of 1 by people",
  }),
}).openapi("GivenApproval");

const approveReview = projectRoute("POST /api/reviews/{id}/approve", {
  summary: "Approve the newest round of somebody else's review",
  request: {
    params: reviewParams,
    body: optionalJsonRequest(verdictSchema.meta({ id: "ReviewApproval" }), {}),
  },
  responses: {
    200: json(approvalAnswer, "The review's status"),
    ...projectErrors(400, 413),
    ...reviewConflict,
  },
}, optionalBody());

const requestChanges = projectRoute("POST /api/reviews/{id}/request-changes", {
  summary: "Request changes; withdraws the approvals",
  request: {
    params: reviewParams,
    body: optionalJsonRequest(verdictSchema.meta({ id: "ReviewChangeRequest" }), {
      comment: "Please add a test",
    }),
  },
  responses: {
    200: json(statusAnswer, "The review's status"),
    ...projectErrors(400, 413),
    ...reviewConflict,
  },
}, optionalBody());

const closeReview = projectRoute("POST /api/reviews/{id}/close", {
  summary: "Close a review without a merge; for its author, its workspace's owner and admins",
  request: {
    params: reviewParams,
    body: optionalJsonRequest(endingSchema.meta({ id: "ReviewActor" }), {}),
  },
  responses: {
    200: json(statusAnswer, "The review's status"),
    ...projectErrors(400, 413),
    ...reviewConflict,
  },
}, optionalBody());

const mergeReview = projectRoute("POST /api/reviews/{id}/merge", {
  summary: "Merge an approved review, at exactly the approved check-in",
  request: {
    params: reviewParams,
    body: optionalJsonRequest(endingSchema.meta({ id: "ReviewMerge" }), {}),
  },
  responses: {
    200: json(
      statusAnswer.extend({
        checkin: z.string().nullable().openapi({
          description: "The merge; null if the review has no workspace",
        }),
      }).openapi("MergedReview"),
      "Merged",
    ),
    ...projectErrors(400, 413),
    ...reviewConflict,
  },
}, optionalBody());

/** `/api/reviews/{id}/approve`, `/request-changes`, `/close` and `/merge`. */
export function reviewVerdictRoutes(services: Pick<Services, "hosting" | "accounts">) {
  const { reviews, reviewMerges } = services.hosting;
  const requestOf = reviewRequestOf(services);
  return newRoutes()
    .openapi(approveReview, async (context) => {
      const { project } = context.get("access");
      const { agent_id, ...verdict } = context.req.valid("json");
      const by = requestOf(context, agent_id);
      const review = await reviews.approve(project, numberOf(context), verdict, by);
      const { isApproved, progress } = await reviewMerges.judge(project, review);
      const missing = isApproved ? {} : { reason: `It has ${progress}` };
      return context.json({ ...statusOf(review), ...missing }, 200);
    })
    .openapi(requestChanges, async (context) => {
      const { project } = context.get("access");
      const { agent_id, ...verdict } = context.req.valid("json");
      const by = requestOf(context, agent_id);
      const review = await reviews.requestChanges(project, numberOf(context), verdict, by);
      return context.json(statusOf(review), 200);
    })
    .openapi(closeReview, async (context) => {
      const { project } = context.get("access");
      const { agent_id, generation } = context.req.valid("json");
      const by = requestOf(context, agent_id, generation);
      const review = await reviews.close(project, numberOf(context), by);
      return context.json(statusOf(review), 200);
    })
    .openapi(mergeReview, async (context) => {
      const { project } = context.get("access");
      const { agent_id, generation } = context.req.valid("json");
      const by = requestOf(context, agent_id, generation);
      const { review, checkin } = await reviewMerges.merge(project, numberOf(context), by);
      return context.json({ ...statusOf(review), checkin }, 200);
    });
}

function statusOf({ number: id, status, title, round }: Review) {
  return { id, status, title, round };
}
