import type { Services } from "../../services/daemon/mod.ts";
import { mirrorBelow } from "../projects/mirror.ts";
import { accessOf } from "../access.ts";

/** `/v1/projects/{slug}/mirror`, for the operator. */
export function mirrorRoutes({ hosting }: Pick<Services, "hosting">) {
  const { projects } = hosting;
  return mirrorBelow({
    base: "/v1/projects/{slug}/mirror",
    accessOf,
    projectOf: (context) => projects.require(context.req.param("slug") ?? "").project,
  }, hosting);
}
