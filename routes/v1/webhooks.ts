import type { Services } from "../../services/daemon/mod.ts";
import { newRoutes } from "../context.ts";
import { webhooksBelow } from "../projects/webhooks.ts";
import { accessOf } from "../access.ts";

/** `/v1/projects/{slug}/webhooks` and `/v1/webhooks`, for the operator. */
export function webhookRoutes({ hosting }: Pick<Services, "hosting">) {
  const { projects } = hosting;
  return newRoutes()
    .route(
      "/",
      webhooksBelow({
        base: "/v1/projects/{slug}/webhooks",
        accessOf,
        ownerOf: (context) => projects.require(context.req.param("slug") ?? "").project,
      }, hosting),
    )
    .route("/", webhooksBelow({ base: "/v1/webhooks", accessOf, ownerOf: () => null }, hosting));
}
