import type { Services } from "../../services/daemon/mod.ts";
import * as webhooks from "../../services/webhooks/operations.ts";
import { newRoutes } from "../context.ts";
import { operatorRoutes } from "../projects/operations.ts";

/** `/v1/projects/{slug}/webhooks` and `/v1/webhooks`, for the operator. */
export function webhookRoutes(services: Services) {
  const { projects } = services.hosting;
  const from = "/api/webhooks";
  return newRoutes()
    .route(
      "/",
      operatorRoutes(services, webhooks, {
        from,
        to: "/v1/projects/{slug}/webhooks",
        projectOf: (context) => projects.require(context.req.param("slug") ?? "").project,
      }),
    )
    .route(
      "/",
      operatorRoutes(services, webhooks, {
        from,
        to: "/v1/webhooks",
        whose: "all projects",
        projectOf: () => null,
      }),
    );
}
