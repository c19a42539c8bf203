import { z } from "@hono/zod-openapi";
import type { Services } from "../../services/daemon/mod.ts";
import { LOG_LEVELS } from "../../services/log.ts";
import { callerOf, newRoutes } from "../context.ts";
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

/** `/v1/log` and `/v1/pauses`: for operators of the running program. */
export function operationRoutes(
  { logLevels, changePauses }: Pick<Services, "logLevels" | "changePauses">,
) {
  return newRoutes()
    .openapi(readLevel, (context) => context.json({ level: logLevels.read() }, 200))
    .openapi(setLevel, async (context) => {
      const { level } = context.req.valid("json");
      await logLevels.set(level, callerOf(context));
      return context.json({ level }, 200);
    })
    .openapi(beginPause, async (context) => {
      const { busy, ...pause } = await changePauses.begin();
      return context.json({ ...pause, busy: [...busy] }, 201);
    })
    .openapi(endPause, (context) => {
      changePauses.end(context.req.valid("param").id);
      return context.body(null, 204);
    });
}
