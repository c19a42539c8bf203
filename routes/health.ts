import { ApiRoutes } from "./api_routes.ts";
import { z } from "./extended_zod.ts";
import type { Metrics, Status } from "../services/operation/metrics/mod.ts";
import { answerHealth, answerReadiness } from "./probes.ts";
import { errors, errorSchema, json } from "./schemas.ts";
import { specialRoute } from "./special_route.ts";

const healthSchema = z.object({ status: z.literal("ok") }).openapi("Health");

const readinessSchema = z.object({
  status: z.literal("ok"),
  halted: z.boolean().openapi({ description: "Whether any agent is halted" }),
  node: z.object({
    started_at: z.iso.datetime().openapi({
      description: "By this, `GET /v1/nodes` tells which one it is",
    }),
    leader: z.boolean().openapi({ description: "Whether it does what only one node does" }),
  }).optional().openapi({ description: "Which node answers, if there are several" }),
}).openapi("Readiness");

const getHealth = specialRoute("GET /healthz", {
  operationId: "getHealth",
  summary: "Report whether the process runs; needs no token",
  responses: { 200: json(healthSchema, "It does") },
});

const getReadiness = specialRoute("GET /readyz", {
  operationId: "getReadiness",
  summary: "Report whether every part is up; needs no token",
  responses: {
    200: json(readinessSchema, "Every part is up"),
    503: json(errorSchema, "A part is not up; the error names it"),
  },
});

/** `GET /healthz` and `GET /readyz`. */
export function healthRoutes(status: Status) {
  return new ApiRoutes()
    .openapi(getHealth, answerHealth)
    .openapi(getReadiness, (context) => answerReadiness(context, status));
}

/** Version 0.0.4 of the text format of Prometheus. */
const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const getMetrics = specialRoute("GET /v1/metrics", {
  operationId: "getMetrics",
  summary: "Metrics for Prometheus",
  responses: {
    200: {
      content: { "text/plain": { schema: z.string() } },
      description: "Every metric in the text format of Prometheus, version 0.0.4",
    },
    ...errors(),
  },
});

/** `GET /v1/metrics`. */
export function metricRoutes(metrics: Pick<Metrics, "render">) {
  return new ApiRoutes().openapi(getMetrics, (context) => {
    return context.text(metrics.render(), 200, { "Content-Type": CONTENT_TYPE });
  });
}
