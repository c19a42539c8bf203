import { pageFields, pageOf, pageParameters, rangeOf } from "../../services/projects/schemas.ts";
import { z } from "../extended_zod.ts";
import { badgeOf, renderBadge, viewOfCheck } from "../../services/checks/mod.ts";
import { CHECK_STATES, reportSchema } from "../../services/checks/schemas.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { NotFound } from "../../services/errors.ts";
import { actorOf, type Project } from "../../services/projects/mod.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { json, jsonRequest } from "../schemas.ts";
import { UNTRUSTED } from "./content_headers.ts";
import { projectErrors, projectRoute } from "./route.ts";

const stateSchema = z.enum(CHECK_STATES);

const checkFields = {
  checkin: z.string().openapi({ description: "The whole id of the check-in" }),
  context: z.string(),
  state: stateSchema,
  description: z.string(),
  target_url: z.string(),
  reporter: z.string(),
};

const checkSchema = z.object({
  id: z.int(),
  ...checkFields,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}).openapi("Check");

export const reportedSchema = checkSchema.extend({ created: z.boolean() });

export const checkinStatusSchema = z.object({
  checkin: z.string(),
  state: z.enum(["unknown", "failing", "pending", "passing"]),
  checks: z.array(checkSchema),
}).openapi("CheckinStatus");

/** A check that a rule demands, as it stands for a check-in under test. */
export const requiredCheckSchema = z.object({
  context: z.string(),
  state: stateSchema.openapi({
    description: "What the newest report that counts says; pending if there is none",
  }),
  reporter: z.string().nullable().openapi({
    description: "Who made that report; null if there is none",
  }),
  uncounted: z.array(z.string()).openapi({
    description: "Who made newer reports that do not count: whose work is under test, or whom no " +
      "rule trusts",
  }),
  reporters: z.array(z.string()).openapi({
    description: "Who may report it, beside project tokens with the scope status:write",
  }),
}).openapi("RequiredCheck");

const checkinParam = z.string().min(1).openapi({
  description: "The check-in: an id, a prefix of one, a branch or a tag",
});

const reportCheck = projectRoute("POST /api/status", {
  summary:
    "Report the result of a check (CI) on a check-in; it replaces an earlier one of the same context",
  request: {
    body: jsonRequest(reportSchema.meta({ id: "CheckReport" }), {
      checkin: "5c3f9a1b20",
      context: "ci/build",
      state: "success",
      description: "All 214 tests passed",
      target_url: "https://ci.example.com/builds/7",
    }),
  },
  responses: {
    201: json(reportedSchema, "The first report of this context"),
    200: json(reportedSchema, "Replaced the earlier report of this context"),
    ...projectErrors(400, 409, 413),
  },
});

const listChecks = projectRoute("GET /api/status", {
  summary: "The checks of a check-in",
  request: {
    query: z.object({
      checkin: z.string({ error: "checkin parameter required" }).min(1, {
        error: "checkin parameter required",
      }).openapi({ description: "An id, a prefix of one, a branch or a tag" }),
    }),
  },
  responses: {
    200: json(
      checkinStatusSchema,
      "The newest report of each context, by context",
    ),
    ...projectErrors(400),
  },
});

const listReports = projectRoute("GET /api/status/{checkin}/history", {
  summary: "Every report of a check-in, newest first",
  request: {
    params: z.object({ checkin: checkinParam }),
    query: z.object({
      context: z.string().optional().openapi({ description: "Only reports of this context" }),
      ...pageParameters,
    }),
  },
  responses: {
    200: json(
      z.object({
        checkin: z.string(),
        reports: z.array(z.object({ ...checkFields, reported_at: z.iso.datetime() })),
        ...pageFields,
      }).openapi("CheckHistory"),
      "The reports",
    ),
    ...projectErrors(400),
  },
});

const getBadge = projectRoute("GET /api/status/{checkin}/badge.svg", {
  summary: "The state of a check-in as a badge: passing, failing, pending or unknown",
  request: { params: z.object({ checkin: checkinParam }) },
  responses: {
    200: { content: { "image/svg+xml": { schema: z.string() } }, description: "The badge" },
    ...projectErrors(400),
  },
});

/** `/api/status`: reports of CI. */
export function checkRoutes({ hosting, accounts }: Pick<Services, "hosting" | "accounts">) {
  const { checks, repositories } = hosting;
  const resolve = async (project: Project, name: string) => {
    const { uuid } = await repositories.read(
      project,
      (repository) => repository.resolveCheckin(name),
    );
    return uuid;
  };
  return newRoutes()
    .openapi(reportCheck, async (context) => {
      const access = context.get("access");
      const { check, isNew } = await checks.report(access.project, context.req.valid("json"), {
        caller: callerOf(context),
        actor: actorOf(access, undefined, accounts),
      });
      return context.json({ ...viewOfCheck(check), created: isNew }, isNew ? 201 : 200);
    })
    .openapi(listChecks, async (context) => {
      const { project } = context.get("access");
      const checkin = await resolve(project, context.req.valid("query").checkin);
      const found = await checks.list(project, checkin);
      const { message: state } = badgeOf(found.map((check) => check.state));
      return context.json({ checkin, state, checks: found.map(viewOfCheck) }, 200);
    })
    .openapi(listReports, async (context) => {
      const { project } = context.get("access");
      const { context: name, ...page } = context.req.valid("query");
      const checkin = await resolve(project, context.req.valid("param").checkin);
      const { reports, total } = await checks.history(project, checkin, {
        context: name,
        ...rangeOf(page),
      });
      return context.json({ checkin, reports, ...pageOf(page, total) }, 200);
    })
    .openapi(getBadge, async (context) => {
      const { project } = context.get("access");
      // A badge in a page must show something even if its check-in is gone.
      const checkin = await resolve(project, context.req.valid("param").checkin).catch((error) => {
        if (error instanceof NotFound) return null;
        throw error;
      });
      const states = checkin === null ? [] : (await checks.statesOf(project, checkin)).values();
      return context.body(renderBadge(badgeOf(states)), 200, {
        ...UNTRUSTED,
        "Content-Type": "image/svg+xml",
        "Cache-Control": "no-cache, no-store, must-revalidate",
      });
    });
}
