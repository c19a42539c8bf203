import { z } from "zod";
import { pageFields, pageParameters } from "../projects/schemas.ts";
import { trimmedLineSchema, wholeNumber } from "../../kernel/validation/schemas.ts";
import { STREAMS } from "./assignment.ts";

export { CACHE_KEY_HEADER, GENERATION_HEADER } from "./assignment.ts";

export const JOB_STATES = [
  "waiting",
  "queued",
  "running",
  "success",
  "failure",
  "error",
  "cancelled",
  "skipped",
] as const;

const time = z.iso.datetime().nullable();

/** A job as lists show it. */
export const jobSchema = z.object({
  id: z.string(),
  run: z.int().meta({ description: "The run that it belongs to" }),
  check: z.string().meta({ description: "The context under which it reports" }),
  counts: z.boolean().meta({
    description: "Whether its report can count: not if the change under test defines it",
  }),
  checkin: z.string(),
  attempt: z.int(),
  state: z.enum(JOB_STATES),
  summary: z.string(),
  exit_code: z.int().nullable(),
  needs: z.array(z.string()),
  labels: z.array(z.string()),
  runner: z.string().nullable(),
  cancelling: z.string().nullable().meta({
    description: "Why its runner was told to end it, while it runs",
  }),
  waits_for: z.string().nullable().meta({ description: "Why it does not run yet" }),
  queued_at: time,
  started_at: time,
  ended_at: time,
  seconds: z.number().nullable().meta({ description: "How long it ran, or has run" }),
}).meta({ id: "CheckJob" });

const artifactSchema = z.object({
  path: z.string(),
  bytes: z.int(),
  created_at: z.iso.datetime(),
});

/** A job with everything that is known of it. */
export const jobDetailSchema = jobSchema.extend({
  commands: z.array(z.string()),
  generation: z.int().meta({ description: "How many runners got it" }),
  log_lines: z.int(),
  artifacts: z.array(artifactSchema),
  steps: z.array(z.object({
    name: z.string(),
    result: z.enum(["success", "failure", "cancelled", "skipped"]).nullable(),
    line: z.int().meta({ description: "The number of its first line in the log" }),
    lines: z.int(),
  })).readonly().meta({ description: "Those of a workflow's job" }),
  last_seconds: z.array(z.number()).meta({
    description: "How long the check's last ten jobs ran that passed, the newest first",
  }),
}).meta({ id: "CheckJobDetail" });

/** A run. */
export const runSchema = z.object({
  id: z.int(),
  cause: z.enum(["review", "landing", "push", "cron", "manual"]),
  review: z.int().nullable(),
  checkin: z.string(),
  branch: z.string().meta({ description: "The target branch, whose definition decides" }),
  defined_by: z.string().meta({ description: "The check-in with that definition" }),
  trusted: z.boolean().meta({
    description: "Whether it tests what is on a protected branch, so that its jobs get secrets",
  }),
  asked_by: z.string(),
  state: z.enum(["waiting", "running", "success", "failure", "cancelled"]),
  fault: z.string().nullable().meta({ description: "What is wrong with its definition" }),
  notices: z.array(z.object({
    file: z.string(),
    line: z.int(),
    what: z.string(),
    why: z.string(),
  })).meta({ description: "What the definition has that muster does not do" }),
  jobs: z.array(jobSchema).meta({ description: "The newest attempt of each check" }),
  created_at: z.iso.datetime(),
  ended_at: time,
}).meta({ id: "CheckRun" });

export const runDetailSchema = runSchema.extend({
  earlier: z.array(jobSchema).meta({ description: "Earlier attempts, the newest first" }),
}).meta({ id: "CheckRunDetail" });

export const runsSchema = z.object({ runs: z.array(runSchema), ...pageFields })
  .meta({ id: "CheckRuns" });

/** Which runs to list. */
export const runFilterSchema = z.object({
  checkin: z.string().optional().meta({ description: "Only runs on this check-in: a whole id" }),
  review: wholeNumber("Only runs of this review", 1, 999_999_999),
  branch: z.string().optional().meta({ description: "Only runs for this target branch" }),
  check: z.string().optional().meta({ description: "Only runs with this check" }),
  state: z.enum(["open", "ended", "failing"]).optional().meta({
    description: "Only open runs, those that have ended, or those with a failed check that counts",
  }),
  ...pageParameters,
});

/** The request for a run that nothing else causes. */
export const newRunSchema = z.object({
  branch: trimmedLineSchema(1, 200).optional().describe(
    "The branch whose tip is tested; by default, the main branch",
  ),
  checks: z.array(trimmedLineSchema(1, 200)).min(1).max(50).optional().describe(
    "The checks, with those that they need; by default, all",
  ),
  inputs: z.record(z.string(), z.string()).optional().describe("What a workflow is started with"),
});

const line = z.object({
  number: z.int(),
  at: z.int().meta({ description: "Milliseconds since the job began" }),
  stream: z.enum(STREAMS),
  text: z.string(),
});

/** A part of a log. */
export const logSchema = z.object({
  job: z.string(),
  generation: z.int(),
  state: z.enum(JOB_STATES),
  total: z.int().meta({ description: "Lines of the whole log" }),
  lines: z.array(line),
}).meta({ id: "CheckLog" });

export const logQuerySchema = z.object({
  from: wholeNumber("The first line; they are numbered from 1", 1, 999_999_999),
  count: wholeNumber("How many lines; fewer come if they are long", 1, 5000),
  tail: wholeNumber("The last so many lines, in place of `from`", 1, 5000),
  search: z.string().min(1).max(200).optional().meta({
    description: "Only lines that have this text, at most 1,000 of them",
  }),
  generation: wholeNumber("The log of this lease; by default, the newest", 1, 1000),
});

/** The log of a check for its author. */
export const checkLogSchema = z.object({
  check: z.string(),
  checkin: z.string(),
  job: z.string(),
  run: z.int(),
  state: z.enum(JOB_STATES),
  summary: z.string(),
  failing_command: z.string().nullable(),
  log: z.string().meta({
    description: "What matters of the log: the end of the command that failed, and before that " +
      "lines that look like errors. Each line begins with its number",
  }),
  lines_total: z.int(),
  next: z.string().meta({ description: "What to do next" }),
}).meta({ id: "CheckLogExcerpt" });

/** A secret, never with its value. */
export const secretSchema = z.object({
  name: z.string(),
  check: z.string().nullable().meta({ description: "The only check that gets it; null: all" }),
  set_by: z.string(),
  set_at: z.iso.datetime(),
}).meta({ id: "CheckSecret" });

export const secretNameSchema = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, {
  error: "must be the name of a variable: letters, digits and _",
});

/** Shorter ones could not be hidden in a log without hiding half of it. */
const MIN_SECRET = 4;
const MAX_SECRET = 16_384;

export const secretValueSchema = z.string().min(MIN_SECRET, {
  error: `must have at least ${MIN_SECRET} characters: shorter ones cannot be hidden in logs`,
}).max(MAX_SECRET);

/** How a check fares. */
export const figuresSchema = z.array(z.object({
  check: z.string(),
  jobs: z.int().meta({ description: "Jobs that ended with success or failure" }),
  success_rate: z.number().nullable().meta({ description: "From 0 to 1" }),
  seconds_median: z.number().nullable(),
  seconds_p95: z.number().nullable(),
  queue_seconds_median: z.number().nullable(),
  flaky: z.int().meta({ description: "Check-ins on which it both failed and passed" }),
  last_state: z.enum(JOB_STATES),
  last_ended_at: z.iso.datetime(),
})).meta({ id: "CheckFigures" });

export type JobView = z.output<typeof jobSchema>;
export type RunView = z.output<typeof runSchema>;
