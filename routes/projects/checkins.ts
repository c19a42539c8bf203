import { z } from "@hono/zod-openapi";
import type { Services } from "../../services/daemon/mod.ts";
import type { CheckinDetail } from "../../services/fossil/mod.ts";
import { newRoutes } from "../context.ts";
import { json } from "../schemas.ts";
import { answerJson, notModified } from "./answers.ts";
import { checkinDetailSchema, checkinName } from "./reading_schemas.ts";
import { projectErrors, projectRoute } from "./route.ts";

const getCheckin = projectRoute("GET /api/checkin/{uuid}", {
  summary: "A check-in with the files that it changes",
  request: { params: z.object({ uuid: checkinName }) },
  responses: {
    200: json(checkinDetailSchema, "The check-in"),
    ...notModified,
    ...projectErrors(400),
  },
});

/** `/api/checkin/{uuid}`. */
export function checkinRoutes(services: Pick<Services, "hosting">) {
  return newRoutes().openapi(getCheckin, (context) => {
    const { uuid } = context.req.valid("param");
    return answerJson<CheckinDetail>(
      context,
      services,
      (repository) => repository.json.checkin(uuid),
    );
  });
}
