import { z } from "zod";
import { Conflict, NotFound, TimedOut, Unavailable } from "../../kernel/errors.ts";
import { Created, serverOperation } from "../../people/identity/server_operation.ts";
import { LOG_LEVELS } from "../../kernel/log.ts";
import type { ChangePauses } from "./change_pauses.ts";
import type { LogLevels } from "./log_level.ts";
import type { Examination, SelfExamination } from "./self_examination.ts";

/** What the operations on the running program call. */
interface OperatorServices {
  readonly logLevels: LogLevels;
  readonly changePauses: ChangePauses;
  readonly selfExamination: SelfExamination;
}

const logSchema = z.strictObject({
  level: z.enum(LOG_LEVELS).meta({ description: "The least severe level that is logged" }),
}).meta({ id: "LogLevel" });

const examinationSchema = z.object({
  at: z.iso.datetime().meta({ description: "The end of the examination" }),
  healthy: z.boolean().meta({ description: "Whether nothing needs to be done" }),
  findings: z.array(z.object({
    level: z.enum(["error", "warning", "note"]).meta({ description: "A note needs nothing" }),
    check: z.string().meta({ description: "The check that found it, such as `permissions`" }),
    message: z.string(),
    fix: z.string().meta({ description: "How to fix it" }),
  })).readonly(),
  more: z.number().int().meta({ description: "Findings that are left out" }),
}).meta({ id: "Examination" });

const theExamination = { schema: examinationSchema, description: "The examination" };

const pauseSchema = z.object({
  id: z.string(),
  seconds: z.number().meta({ description: "After so many seconds, it ends by itself" }),
  busy: z.array(z.string()).readonly().meta({
    description: "Slugs of projects that are still being written, for example by a long import",
  }),
}).meta({ id: "Pause" });

export const getLogLevel = serverOperation({
  http: "GET /v1/log",
  on: "server",
  summary: "Show the level of the program's log",
  input: z.object({}),
  ok: { schema: logSchema, description: "The level" },
}, ({ logLevels }: OperatorServices) => ({ level: logLevels.read() }));

export const setLogLevel = serverOperation({
  http: "PUT /v1/log",
  on: "server",
  whileFull: true,
  summary: "Change the level of the log, until the next reload or restart",
  input: logSchema,
  example: { level: "debug" },
  ok: { schema: logSchema, description: "The new level" },
  refusals: [{ error: Unavailable }],
}, async ({ logLevels }: OperatorServices, { level }, { caller }) => {
  await logLevels.set(level, caller);
  return { level };
});

export const getExamination = serverOperation({
  http: "GET /v1/doctor",
  on: "server",
  summary: "Show what the last examination since the start found",
  input: z.object({}),
  ok: theExamination,
  refusals: [{ error: NotFound }],
}, ({ selfExamination: { last } }: OperatorServices) => {
  if (last === null) throw new NotFound("Nobody has examined this server since its start");
  return viewOf(last);
});

export const examine = serverOperation({
  http: "POST /v1/doctor",
  on: "server",
  whileFull: true,
  summary: "Examine configuration, data and machine, as `muster doctor --quick` does",
  description: "Takes about a second, in a process of its own, and changes nothing. One " +
    "examination runs at a time: callers that come meanwhile get its result.",
  input: z.object({}),
  ok: theExamination,
  refusals: [{ error: Unavailable }, { error: TimedOut }],
}, async ({ selfExamination }: OperatorServices) => viewOf(await selfExamination.run()));

export const beginPause = serverOperation({
  http: "POST /v1/pauses",
  on: "server",
  whileFull: true,
  summary: "Let changes of projects wait, while a backup takes its snapshots",
  input: z.object({}),
  created: { schema: pauseSchema, description: "The pause; everything acknowledged is on disk" },
  refusals: [{ error: Conflict }, { error: Unavailable }],
}, async ({ changePauses }: OperatorServices) => new Created(await changePauses.begin()));

export const endPause = serverOperation({
  http: "DELETE /v1/pauses/{id}",
  on: "server",
  summary: "End a pause",
  input: z.object({ id: z.string() }),
  done: "Ended",
  refusals: [{ error: NotFound }],
}, ({ changePauses }: OperatorServices, { id }) => changePauses.end(id));

function viewOf({ at, ...found }: Examination) {
  return { ...found, at: new Date(at).toISOString() };
}
