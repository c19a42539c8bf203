import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { type Review, viewOfReview } from "../../services/reviews/mod.ts";
import { reviewersSchema } from "../../services/reviews/schemas.ts";
import { newRoutes } from "../context.ts";
import { json, jsonRequest } from "../schemas.ts";
import { reviewSchema } from "./review_schemas.ts";
import { numberOf, reviewParams, reviewRequestOf } from "./review_requests.ts";
import { projectErrors, projectRoute } from "./route.ts";

const askReviewers = projectRoute("POST /api/reviews/{id}/reviewers", {
  summary: "Ask further accounts to review a change",
  request: {
    params: reviewParams,
    body: jsonRequest(reviewersSchema.meta({ id: "ReviewersRequest" }), {
      reviewers: ["scout"],
    }),
  },
  responses: { 200: json(reviewSchema, "The review"), ...projectErrors(400, 409, 413) },
});

const dropReviewer = projectRoute("DELETE /api/reviews/{id}/reviewers/{name}", {
  summary: "Withdraw the request to a reviewer; for the author, admins and the reviewer",
  request: { params: reviewParams.extend({ name: z.string().max(200) }) },
  responses: { 200: json(reviewSchema, "The review"), ...projectErrors(400, 409, 413) },
});

/** `/api/reviews/{id}/reviewers`. */
export function reviewerRoutes(services: Pick<Services, "hosting" | "accounts">) {
  const { reviews } = services.hosting;
  const requestOf = reviewRequestOf(services);
  const view = async (review: Review) =>
    viewOfReview(review, (await reviews.reviewers.of([review])).get(review.id) ?? []);
  return newRoutes()
    .openapi(askReviewers, async (context) => {
      const { project } = context.get("access");
      const { reviewers, agent_id } = context.req.valid("json");
      const by = requestOf(context, agent_id);
      const review = await reviews.ask(project, numberOf(context), reviewers, by);
      return context.json(await view(review), 200);
    })
    .openapi(dropReviewer, async (context) => {
      const { project } = context.get("access");
      const { name } = context.req.valid("param");
      const by = requestOf(context, undefined);
      const review = await reviews.withdrawRequest(project, numberOf(context), name, by);
      return context.json(await view(review), 200);
    });
}
