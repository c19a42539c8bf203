import { boundedNumber, pageOf, pageParameters, rangeOf } from "../../services/projects/schemas.ts";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import type { Blame, Diff } from "../../services/fossil/mod.ts";
import { newRoutes } from "../context.ts";
import { json, wholeNumber } from "../schemas.ts";
import { answerJson, notModified } from "./answers.ts";
import {
  blameSchema,
  checkinName,
  comparisonSchema,
  diffSchema,
  historySchema,
  optionalCheckin,
  whitespaceParameter,
} from "./reading_schemas.ts";
import { projectErrors, projectRoute } from "./route.ts";

/** Most files on a page of a diff, and most bytes of all its diffs. */
const [MAX_FILES, MAX_BYTES] = [1000, 16 * 1024 * 1024];

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
        description: "Any name of a check-in; by default, the tip of the main branch",
      }),
      common: z.enum(["true", "false"]).optional().openapi({
        description: "`true` compares with the newest check-in that `from` and `to` have in " +
          "common, and so leaves out what happened since on the side of `from`",
      }),
      path: z.string().optional().openapi({
        description: "Only this file, or the files in this folder",
      }),
      context: wholeNumber("Lines of context around each change; 3 by default", 0, MAX_CONTEXT),
      whitespace: whitespaceParameter,
      page: boundedNumber("The page of files, from 1, with `per_page`", 1, 1_000_000),
      per_page: wholeNumber("Files per page; by default, one page has all", 1, MAX_FILES),
      max_bytes: wholeNumber(
        "Bytes of all diffs together; files beyond it come without theirs; 16 MiB by default",
        0,
        MAX_BYTES,
      ),
    }),
  },
  responses: {
    200: json(diffSchema, "The differences, by file"),
    ...notModified,
    ...projectErrors(400, 413),
  },
});

const getComparison = projectRoute("GET /api/compare", {
  summary: "The check-ins that one check-in has and another one lacks, newest first",
  request: {
    query: z.object({
      ...pageParameters,
      from: optionalCheckin,
      to: checkinName,
    }),
  },
  responses: {
    200: json(comparisonSchema, "A page of these check-ins"),
    ...notModified,
    ...projectErrors(400),
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

/** `/api/diff`, `/api/compare`, `/api/blame` and `/api/history`: what changed. */
export function changeRoutes(services: Pick<Services, "hosting">) {
  return newRoutes()
    .openapi(getDiff, (context) => {
      const query = context.req.valid("query");
      const { from, to, path, context: around, page, per_page, max_bytes: maxBytes } = query;
      const ignoresWhitespace = query.whitespace === "ignore";
      return answerJson<Diff>(context, services, (repository) =>
        repository.json.diff({
          ...(query.common === "true" ? { fromCommon: true } : {}),
          ...(ignoresWhitespace ? { ignoresWhitespace } : {}),
          ...(from === undefined ? {} : { from }),
          ...(to === undefined ? {} : { to }),
          ...(path === undefined ? {} : { path }),
          ...(around === undefined ? {} : { context: around }),
          ...(per_page === undefined ? {} : rangeOf({ page, per_page })),
          ...(maxBytes === undefined ? {} : { maxBytes }),
        }));
    })
    .openapi(getComparison, (context) => {
      const { from, to, ...page } = context.req.valid("query");
      return answerJson<z.infer<typeof comparisonSchema>>(context, services, async (repository) => {
        const compared = await repository.comparison({
          ...rangeOf(page),
          to,
          ...(from === undefined ? {} : { from }),
        });
        return { ...compared, ...pageOf(page, compared.ahead) };
      });
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
