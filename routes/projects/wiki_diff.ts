import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import type { WikiDiff } from "../../services/fossil/mod.ts";
import { newRoutes } from "../context.ts";
import { json } from "../schemas.ts";
import { answerJson, notModified } from "./answers.ts";
import { projectErrors, projectRoute } from "./route.ts";

const versionId = z.string().regex(/^[0-9a-fA-F]{4,64}$/, { error: "must be the id of a version" });

export const diffSchema = z.object({
  name: z.string(),
  from: z.string().nullable().openapi({ description: "Null if `to` is the first version" }),
  to: z.string(),
  added: z.int().openapi({ description: "Lines" }),
  deleted: z.int(),
  diff: z.string().openapi({ description: "A unified diff without its headers" }),
}).openapi("WikiDiff");

const getDiff = projectRoute("GET /api/wiki-diff", {
  summary: "The differences between two versions of a wiki page",
  request: {
    query: z.object({
      name: z.string().openapi({ description: "The page" }),
      from: versionId.optional().openapi({ description: "By default, the version before `to`" }),
      to: versionId.optional().openapi({ description: "By default, the newest version" }),
    }),
  },
  responses: {
    200: json(
      diffSchema,
      "The differences",
    ),
    ...notModified,
    ...projectErrors(400),
  },
});

/** `/api/wiki-diff`. */
export function wikiDiffRoutes(services: Pick<Services, "hosting">) {
  return newRoutes().openapi(getDiff, (context) => {
    const { name, from, to } = context.req.valid("query");
    return answerJson<WikiDiff>(context, services, (repository) =>
      repository.json.wikiDiff({
        name,
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
      }));
  });
}
