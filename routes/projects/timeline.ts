import { z } from "@hono/zod-openapi";
import type { Services } from "../../services/daemon/mod.ts";
import { json } from "../schemas.ts";
import { newProjectRoutes } from "./context.ts";
import { pageFields, pageOf, pageParameters, rangeOf } from "./paging.ts";
import { projectErrors, projectRoute } from "./route.ts";
import { checkinSchema } from "./schemas.ts";

const getTimeline = projectRoute("GET /api/timeline", {
  summary: "Check-ins, newest first",
  request: {
    query: z.object({
      ...pageParameters,
      branch: z.string().optional().openapi({ description: "Only check-ins of this branch" }),
    }),
  },
  responses: {
    200: json(
      z.object({ checkins: z.array(checkinSchema).readonly(), ...pageFields }).openapi("Timeline"),
      "A page of check-ins",
    ),
    ...projectErrors(400),
  },
});

/** `/api/timeline`. */
export function timelineRoutes({ hosting: { repositories } }: Pick<Services, "hosting">) {
  return newProjectRoutes().openapi(getTimeline, async (context) => {
    const { branch, ...page } = context.req.valid("query");
    const { checkins, total } = await repositories.read(
      context.get("access").project,
      (repository) =>
        repository.timeline({ ...rangeOf(page), ...(branch === undefined ? {} : { branch }) }),
    );
    return context.json({ checkins, ...pageOf(page, total) }, 200);
  });
}
