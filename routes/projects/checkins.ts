import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import type { CheckinDetail } from "../../services/fossil/mod.ts";
import { newRoutes } from "../context.ts";
import { json, wholeNumber } from "../schemas.ts";
import { answerJson, notModified } from "./answers.ts";
import { checkinDetailSchema, checkinName } from "./reading_schemas.ts";
import { projectErrors, projectRoute } from "./route.ts";

/** Most files that a request may ask for. */
const MAX_FILES = 100_000;

const getCheckin = projectRoute("GET /api/checkin/{uuid}", {
  summary: "A check-in with the files that it changes",
  request: {
    params: z.object({ uuid: checkinName }),
    query: z.object({
      max_files: wholeNumber("Most entries of `files_changed`; all by default", 0, MAX_FILES),
    }),
  },
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
    const { max_files: limit } = context.req.valid("query");
    return answerJson<CheckinDetail>(
      context,
      services,
      async (repository) => {
        if (limit === undefined) return await repository.json.checkin(uuid);
        const checkin = await repository.checkin(uuid);
        return { ...checkin, files_changed: checkin.files_changed.slice(0, limit) };
      },
    );
  });
}
