import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { NotFound } from "../../services/errors.ts";
import { LOG_LEVELS } from "../../services/log.ts";
import type { Examination } from "../../services/operations/mod.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { route } from "../route.ts";
import { errors, json, jsonRequest } from "../schemas.ts";

const logSchema = z.strictObject({
  level: z.enum(LOG_LEVELS).openapi({ description: "The least severe level that is logged" }),
}).openapi("LogLevel");

const readLevel = route("GET /v1/log", {
  summary: "Show the level of the program's log",
  responses: { 200: json(logSchema, "The level"), ...errors() },
});

const setLevel = route("PUT /v1/log", {
  summary: "Change the level of the log, until the next reload or restart",
  request: { body: jsonRequest(logSchema, { level: "debug" }) },
  responses: { 200: json(logSchema, "The new level"), ...errors(400, 413, 503) },
});

const examinationSchema = z.object({
  at: z.iso.datetime().openapi({ description: "The end of the examination" }),
  healthy: z.boolean().openapi({ description: "Whether nothing needs to be done" }),
  findings: z.array(z.object({
    level: z.enum(["error", "warning", "note"]).openapi({ description: "A note needs nothing" }),
    check: z.string().openapi({ description: "The check that found it, such as `permissions`" }),
    message: z.string(),
    fix: z.string().openapi({ description: "How to fix it" }),
  })),
  more: z.number().int().openapi({ description: "Findings that are left out" }),
}).openapi("Examination");

const readExamination = route("GET /v1/doctor", {
  summary: "Show what the last examination since the start found",
  responses: { 200: json(examinationSchema, "The examination"), ...errors(404) },
});

const examine = route("POST /v1/doctor", {
  summary: "Examine configuration, data and machine, as `muster doctor --quick` does",
  description: "Takes about a second, in a process of its own, and changes nothing. One " +
    "examination runs at a time: callers that come meanwhile get its result.",
  responses: { 200: json(examinationSchema, "The examination"), ...errors(503, 504) },
});

const pauseSchema = z.object({
  id: z.string(),
  seconds: z.number().openapi({ description: "After so many seconds, it ends by itself" }),
  busy: z.array(z.string()).openapi({
    description: "Slugs of projects that are still being written, for example by a long import",
  }),
}).openapi("Pause");

const beginPause = route("POST /v1/pauses", {
  summary: "Let changes of projects wait, while a backup takes its snapshots",
  responses: {
    201: json(pauseSchema, "The pause; everything acknowledged is on disk"),
    ...errors(409, 503),
  },
});

const endPause = route("DELETE /v1/pauses/{id}", {
  summary: "End a pause",
  request: { params: z.object({ id: z.string() }) },
  responses: { 204: { description: "Ended" }, ...errors(404) },
});

/** `/v1/log`, `/v1/doctor` and `/v1/pauses`: for operators of the running program. */
export function operationRoutes(
  { logLevels, changePauses, selfExamination }: Pick<
    Services,
    "logLevels" | "changePauses" | "selfExamination"
  >,
) {
  return newRoutes()
    .openapi(readLevel, (context) => context.json({ level: logLevels.read() }, 200))
    .openapi(setLevel, async (context) => {
      const { level } = context.req.valid("json");
      await logLevels.set(level, callerOf(context));
      return context.json({ level }, 200);
    })
    .openapi(readExamination, (context) => {
      const { last } = selfExamination;
      if (last === null) throw new NotFound("Nobody has examined this server since its start");
      return context.json(viewOf(last), 200);
    })
    .openapi(
      examine,
      async (context) => context.json(viewOf(await selfExamination.run()), 200),
    )
    .openapi(beginPause, async (context) => {
      const { busy, ...pause } = await changePauses.begin();
      return context.json({ ...pause, busy: [...busy] }, 201);
    })
    .openapi(endPause, (context) => {
      changePauses.end(context.req.valid("param").id);
      return context.body(null, 204);
    });
}

function viewOf({ at, healthy, findings, more }: Examination) {
  return { at: new Date(at).toISOString(), healthy, findings: [...findings], more };
}
