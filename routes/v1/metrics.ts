import { ApiRoutes } from "../api_routes.ts";
import { z } from "../extended_zod.ts";
import type { Metrics } from "../../services/operation/metrics/mod.ts";
import { errors } from "../schemas.ts";
import { specialRoute } from "../special_route.ts";

/** Version 0.0.4 of the text format of Prometheus. */
const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const getMetrics = specialRoute("GET /v1/metrics", {
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
