/** What the file of a workflow may hold, as its author writes it. */
import { z } from "zod";
import type { Value } from "./expressions.ts";
import { MAX_PATTERNS } from "./patterns.ts";

const text = z.union([z.string(), z.number(), z.boolean()], { error: "must be a text" })
  .transform(String);
const texts = z.union([text.transform((one) => [one]), z.array(text)], {
  error: "must be a text, or a list of texts",
});
const value = z.custom<Value>(() => true);
const record = z.record(z.string(), value, { error: "must be a map" });

const patterns = texts.refine((all) => all.join("").length <= MAX_PATTERNS, {
  error: `must have at most ${MAX_PATTERNS} characters`,
});

const filterSchema = z.looseObject({
  branches: patterns.optional(),
  "branches-ignore": patterns.optional(),
  tags: patterns.optional(),
  "tags-ignore": patterns.optional(),
  paths: patterns.optional(),
  "paths-ignore": patterns.optional(),
  types: texts.optional(),
  inputs: z.record(
    z.string(),
    z.looseObject({
      type: text.optional(),
      required: z.boolean().optional(),
      default: value.optional(),
      options: z.array(text).optional(),
    }).nullable(),
  ).nullish(),
});
const schedulesSchema = z.array(z.looseObject({ cron: z.string() }), {
  error: "must be a list of times, each { cron: … }",
});

/** The events of a workflow, each with its filter. */
const eventsSchema = z.union([
  texts.transform((names) => Object.fromEntries(names.map((name) => [name, null]))),
  z.record(z.string(), z.union([filterSchema, schedulesSchema, z.null()])),
], { error: "must name the events that start the workflow" });

const concurrencySchema = z.union([
  text.transform((group) => ({ group, "cancel-in-progress": false as Value })),
  z.looseObject({ group: text, "cancel-in-progress": value.default(false) }),
], { error: "must be the name of a group, or { group: …, cancel-in-progress: … }" });

const stepSchema = z.looseObject({
  name: text.optional(),
  uses: z.string().optional(),
  run: text.optional(),
});

const jobSchema = z.looseObject({
  name: text.optional(),
  needs: texts.default([]),
  if: text.optional(),
  "runs-on": z.union([
    texts,
    z.looseObject({ group: text.optional(), labels: texts.default([]) }),
  ], { error: "must name the labels of a runner" }).optional(),
  strategy: z.looseObject({
    matrix: value.optional(),
    "fail-fast": value.default(true),
    "max-parallel": value.optional(),
  }).optional(),
  "timeout-minutes": value.optional(),
  "continue-on-error": value.default(false),
  concurrency: concurrencySchema.optional(),
  env: value.optional(),
  outputs: record.optional(),
  defaults: value.optional(),
  container: value.optional(),
  services: value.optional(),
  steps: z.array(stepSchema, { error: "must be a list of steps" }).optional(),
  uses: z.string().optional(),
});

/** A job's id: what it is needed by, and read as in `needs.ID`. */
const idSchema = z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]{0,99}$/, {
  error: "must be a name of at most 100 letters, digits, - and _",
});

export const workflowSchema = z.looseObject({
  name: text.optional(),
  "run-name": text.optional(),
  on: eventsSchema,
  env: value.optional(),
  defaults: value.optional(),
  concurrency: concurrencySchema.optional(),
  jobs: z.record(idSchema, jobSchema, { error: "must have a job" }),
});

/** The keys that are read, of a workflow and of a job. */
export const WORKFLOW_KEYS: ReadonlySet<string> = new Set(Object.keys(workflowSchema.shape));
export const JOB_KEYS: ReadonlySet<string> = new Set(Object.keys(jobSchema.shape));

export type WrittenWorkflow = z.output<typeof workflowSchema>;
export type WrittenJob = z.output<typeof jobSchema>;
export type WrittenConcurrency = z.output<typeof concurrencySchema>;
export type EventFilter = z.output<typeof filterSchema>;
