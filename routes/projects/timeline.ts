import { z } from "@hono/zod-openapi";
import type { Services } from "../../services/daemon/mod.ts";
import { newRoutes } from "../context.ts";
import { json } from "../schemas.ts";
import { answerJson, notModified } from "./answers.ts";
import { pageFields, pageOf, pageParameters, rangeOf } from "./paging.ts";
import { projectErrors, projectRoute } from "./route.ts";
import { checkinSchema } from "./schemas.ts";

const timelineSchema = z.object({ checkins: z.array(checkinSchema).readonly(), ...pageFields })
  .openapi("Timeline");

const getTimeline = projectRoute("GET /api/timeline", {
  summary: "Check-ins, newest first",
  request: {
    query: z.object({
      ...pageParameters,
      branch: z.string().optional().openapi({ description: "Only check-ins of this branch" }),
    }),
  },
  responses: {
    200: json(timelineSchema, "A page of check-ins"),
    ...notModified,
    ...projectErrors(400),
  },
});

/** `/api/timeline`. */
export function timelineRoutes(services: Pick<Services, "hosting">) {
  return newRoutes().openapi(getTimeline, (context) => {
    const { branch, ...page } = context.req.valid("query");
    return answerJson<z.infer<typeof timelineSchema>>(context, services, async (repository) => {
      const { checkins, total } = await repository.timeline({
        ...rangeOf(page),
        ...(branch === undefined ? {} : { branch }),
      });
      return { checkins, ...pageOf(page, total) };
    });
  });
}
