import {
  pageFields,
  pageOf,
  pageParameters,
  rangeOf,
  timestampSchema,
} from "../../services/projects/schemas.ts";
import { z } from "../extended_zod.ts";
import { requiredCheckSchema } from "../../services/protection/schemas.ts";
import type { Services } from "../../services/daemon/mod.ts";
import type { QueuedLanding } from "../../services/reviews/mod.ts";
import { newRoutes } from "../context.ts";
import { optionalBody } from "../middleware/body.ts";
import { json, optionalJsonRequest } from "../schemas.ts";
import { endingSchema, numberOf, reviewParams, reviewRequestOf } from "./review_requests.ts";
import { reviewConflict } from "./review_schemas.ts";
import { projectErrors, projectRoute } from "./route.ts";

const STATUSES = ["queued", "testing", "landed", "returned"] as const;

const landingSchema = z.object({
  review: z.int(),
  title: z.string(),
  agent_id: z.string().openapi({ description: "The review's author" }),
  target_branch: z.string(),
  status: z.enum(STATUSES),
  position: z.int().nullable().openapi({ description: "From 1; null once it has ended" }),
  candidate: z.string().nullable().openapi({
    description: "The merge that CI must test, and that lands",
  }),
  base: z.string().nullable().openapi({
    description: "The check-in onto which the candidate was merged",
  }),
  reason: z.string().nullable().openapi({ description: "Why the review came back from the queue" }),
  conflicts: z.array(z.object({ path: z.string(), kind: z.string() })).readonly(),
  contexts: z.array(z.string()).readonly().openapi({
    description: "Contexts that failed, or that must still pass",
  }),
  checks: z.array(requiredCheckSchema).readonly().openapi({
    description: "Required checks of the candidate; empty unless it is tested",
  }),
  queued_by: z.string(),
  queued_at: timestampSchema,
  ended_at: timestampSchema.nullable(),
}).openapi("Landing");

export const landingListSchema = z.object({ landing: z.array(landingSchema), ...pageFields });

export const landingStatusSchema = z.object({
  id: z.int().openapi({ description: "The review" }),
  status: z.enum(STATUSES),
  position: z.int().nullable(),
}).openapi("LandingPlace");

const body = { body: optionalJsonRequest(endingSchema.meta({ id: "LandingRequest" }), {}) };

const landReview = projectRoute("POST /api/reviews/{id}/land", {
  summary: "Put an approved review in the landing queue of its target branch",
  request: { params: reviewParams, ...body },
  responses: {
    202: json(landingStatusSchema, "Its place in the queue"),
    ...projectErrors(400, 413),
    ...reviewConflict,
  },
}, optionalBody());

const withdrawReview = projectRoute("DELETE /api/reviews/{id}/land", {
  summary: "Take a review out of the landing queue",
  request: { params: reviewParams, ...body },
  responses: {
    200: json(landingStatusSchema, "Withdrawn"),
    ...projectErrors(400, 413),
    ...reviewConflict,
  },
}, optionalBody());

const listLandings = projectRoute("GET /api/landing", {
  summary: "The landing queue in its order, then the latest ended landings",
  request: { query: z.object(pageParameters) },
  responses: {
    200: json(landingListSchema, "The queue"),
    ...projectErrors(400),
  },
});

/** `/api/landing` and `/api/reviews/{id}/land`. */
export function landingRoutes(services: Pick<Services, "hosting" | "accounts">) {
  const { landing } = services.hosting;
  const requestOf = reviewRequestOf(services);
  return newRoutes()
    .openapi(landReview, async (context) => {
      const { project } = context.get("access");
      const { agent_id, generation } = context.req.valid("json");
      const by = requestOf(context, agent_id, generation);
      const id = numberOf(context);
      const { landing: { status }, position } = await landing.land(project, id, by);
      return context.json({ id, status, position }, 202);
    })
    .openapi(withdrawReview, async (context) => {
      const { project } = context.get("access");
      const { agent_id, generation } = context.req.valid("json");
      const by = requestOf(context, agent_id, generation);
      const id = numberOf(context);
      await landing.withdraw(project, id, by);
      return context.json({ id, status: "returned" as const, position: null }, 200);
    })
    .openapi(listLandings, async (context) => {
      const list = await landing.list(context.get("access").project);
      const page = context.req.valid("query");
      const { offset, limit } = rangeOf(page);
      const shown = list.slice(offset, offset + limit).map(viewOf);
      return context.json({ landing: shown, ...pageOf(page, list.length) }, 200);
    });
}

function viewOf({ landing, position, checks }: QueuedLanding) {
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
    queued_at: new Date(queuedAt).toISOString(),
    ended_at: endedAt === null ? null : new Date(endedAt).toISOString(),
  };
}
