import { z } from "@hono/zod-openapi";
import type { Services } from "../../services/daemon/mod.ts";
import type { Blame, Diff } from "../../services/fossil/mod.ts";
import { newRoutes } from "../context.ts";
import { json, wholeNumber } from "../schemas.ts";
import { answerJson, notModified } from "./answers.ts";
import { pageOf, pageParameters, rangeOf } from "./paging.ts";
import { blameSchema, diffSchema, historySchema, optionalCheckin } from "./reading_schemas.ts";
import { projectErrors, projectRoute } from "./route.ts";

/** Most lines of context of a diff. */
const MAX_CONTEXT = 1000;

const getDiff = projectRoute("GET /api/diff", {
  summary: "The differences between two check-ins",
  request: {
    query: z.object({
      from: z.string().optional().openapi({
        description: "Any name of a check-in; by default, the primary parent of `to`",
      }),
      to: z.string().optional().openapi({
        description: "Any name of a check-in; by default, the tip of trunk",
      }),
      path: z.string().optional().openapi({
        description: "Only this file, or the files in this folder",
      }),
      context: wholeNumber("Lines of context around each change; 3 by default", 0, MAX_CONTEXT),
    }),
  },
  responses: {
    200: json(diffSchema, "The differences, by file"),
    ...notModified,
    ...projectErrors(400, 413),
  },
});

const getBlame = projectRoute("GET /api/blame", {
  summary: "The check-in that last changed each line of a file",
  request: {
    query: z.object({
      checkin: optionalCheckin,
      path: z.string().openapi({ description: "The file" }),
    }),
  },
  responses: {
    200: json(blameSchema, "The lines"),
    ...notModified,
    ...projectErrors(400, 413),
  },
});

const getHistory = projectRoute("GET /api/history", {
  summary: "The check-ins that changed a file, newest first; follows renames",
  request: {
    query: z.object({
      ...pageParameters,
      path: z.string().openapi({ description: "The file" }),
      checkin: optionalCheckin,
      everywhere: z.enum(["true", "false"]).optional().openapi({
        description: "Include every branch, and not only ancestors of the check-in",
      }),
    }),
  },
  responses: {
    200: json(historySchema, "A page of the history"),
    ...notModified,
    ...projectErrors(400, 413),
  },
});

/** `/api/diff`, `/api/blame` and `/api/history`: changes of files. */
export function changeRoutes(services: Pick<Services, "hosting">) {
  return newRoutes()
    .openapi(getDiff, (context) => {
      const { from, to, path, context: around } = context.req.valid("query");
      return answerJson<Diff>(context, services, (repository) =>
        repository.json.diff({
          ...(from === undefined ? {} : { from }),
          ...(to === undefined ? {} : { to }),
          ...(path === undefined ? {} : { path }),
          ...(around === undefined ? {} : { context: around }),
        }));
    })
    .openapi(getBlame, (context) => {
      const { checkin, path } = context.req.valid("query");
      return answerJson<Blame>(
        context,
        services,
        (repository) =>
          repository.json.blame({ path, ...(checkin === undefined ? {} : { checkin }) }),
      );
    })
    .openapi(getHistory, (context) => {
      const { checkin, path, everywhere, ...page } = context.req.valid("query");
      return answerJson<z.infer<typeof historySchema>>(context, services, async (repository) => {
        const { total, ...history } = await repository.history({
          ...rangeOf(page),
          path,
          everywhere: everywhere === "true",
          ...(checkin === undefined ? {} : { checkin }),
        });
        return { ...history, ...pageOf(page, total) };
      });
    });
}
