import type { Services } from "../../services/daemon/mod.ts";
import * as mirrors from "../../services/mirrors/operations.ts";
import { operatorRoutes } from "../projects/operations.ts";

/** `/v1/projects/{slug}/mirror`, for the operator. */
export function mirrorRoutes(services: Services) {
  const { projects } = services.hosting;
  return operatorRoutes(services, mirrors, {
    from: "/api/mirror",
    to: "/v1/projects/{slug}/mirror",
    projectOf: (context) => projects.require(context.req.param("slug") ?? "").project,
  });
}
