/** What a runner and the server say to each other: requests and answers below `/v1/runner`. */
import { z } from "zod";
import { MAX_LINE } from "./line_length.ts";

export { MAX_LINE };

/** Most lines of one batch of a log. */
export const MAX_BATCH_LINES = 1000;
/** Most bytes of the body of one batch of a log: every server accepts such a body. */
export const MAX_BATCH_BYTES = 524_288;
/** Longest summary of a job, in characters. */
export const MAX_SUMMARY = 500;

/** How a runner can keep jobs apart, the strongest first. */
export const ISOLATIONS = ["podman", "docker", "bwrap", "none"] as const;

/** How a job ends. */
export const OUTCOMES = ["success", "failure", "error", "cancelled"] as const;

/** What printed a line: the job, the runner (`note`), or the start of a command (`command`). */
export const STREAMS = ["out", "err", "note", "command"] as const;

const generation = z.int().min(1).max(1000).meta({
  description: "Which lease of the job: what an older one sends is refused",
});

/** `POST /v1/runner/jobs`: 200 with an assignment, or 204 if none came in time. */
export const leaseRequestSchema = z.strictObject({
  wait_seconds: z.int().min(0).max(60).default(0),
  isolation: z.array(z.enum(ISOLATIONS)).max(ISOLATIONS.length).default([]),
  version: z.string().max(100).default("").meta({ description: "Of the runner's program" }),
});

/** What a runner needs to run a job. */
export const assignmentSchema = z.object({
  id: z.string(),
  generation,
  project: z.string().meta({ description: "The project's slug" }),
  checkin: z.string().meta({ description: "The whole id of the check-in" }),
  name: z.string().meta({ description: "The check" }),
  attempt: z.int().meta({ description: "From 1; more after it was asked to run again" }),
  run: z.string(),
  cause: z.enum(["review", "landing", "push", "cron", "manual"]),
  branch: z.string().nullable(),
  archive: z.string().meta({
    description: "The path on the server of the check-in's .tar.gz, read with the job's token",
  }),
  token: z.string().meta({ description: "Reads this project, until the job ends" }),
  commands: z.array(z.string()),
  shell: z.string(),
  timeout_seconds: z.int(),
  network: z.boolean(),
  image: z.string().nullable(),
  env: z.record(z.string(), z.string()),
  secrets: z.record(z.string(), z.string()).meta({
    description: "More of its environment, to be masked in its log",
  }),
  limits: z.object({
    memory_mb: z.int(),
    processes: z.int(),
    disk_mb: z.int(),
    output_mb: z.int(),
  }),
  artifacts: z.array(z.string()).meta({ description: "Patterns of paths below the checkout" }),
  cache: z.object({ key: z.string(), paths: z.array(z.string()) }).nullable().meta({
    description: "The key as it is written: the runner replaces each ${hash:PATH}",
  }),
  lease_seconds: z.int(),
});

/**
 * `POST /v1/runner/jobs/{id}/renew`: answers when the job is cancelled, or when the time is up. 409
 * if the lease is gone.
 */
export const renewRequestSchema = z.strictObject({
  generation,
  wait_seconds: z.int().min(0).max(20).default(0),
});
export const renewalSchema = z.object({
  cancelled: z.boolean(),
  reason: z.string().optional(),
  expires_in: z.int().meta({ description: "Seconds that the lease lasts from now" }),
});

/** A line of a log. */
export const logLineSchema = z.strictObject({
  at: z.int().min(0).meta({ description: "Milliseconds since the job began" }),
  stream: z.enum(STREAMS),
  text: z.string().max(MAX_LINE),
});

/**
 * `POST /v1/runner/jobs/{id}/log`. Lines that the server has already are skipped. A gap is 409, with
 * `next` in the error's `details`.
 */
export const logRequestSchema = z.strictObject({
  generation,
  from: z.int().min(1).meta({ description: "The number of the first line; a log begins at 1" }),
  lines: z.array(logLineSchema).max(MAX_BATCH_LINES),
});
export const logAcceptedSchema = z.object({
  next: z.int().meta({ description: "The number of the line that the server waits for" }),
});

/** `POST /v1/runner/jobs/{id}/finish`: may be repeated. */
export const finishRequestSchema = z.strictObject({
  generation,
  outcome: z.enum(OUTCOMES),
  exit_code: z.int().nullable().default(null),
  summary: z.string().max(MAX_SUMMARY).default(""),
});
export const finishedSchema = z.object({ outcome: z.enum(OUTCOMES) });

/** The header with the generation, on requests whose body is a file: artifacts and caches. */
export const GENERATION_HEADER = "Muster-Generation";
/** The header with the key of a cache, after the runner replaced each `${hash:PATH}`. */
export const CACHE_KEY_HEADER = "Muster-Cache-Key";

export type LeaseRequest = z.output<typeof leaseRequestSchema>;
export type Assignment = z.output<typeof assignmentSchema>;
export type Renewal = z.output<typeof renewalSchema>;
export type LogLine = z.output<typeof logLineSchema>;
export type LogRequest = z.output<typeof logRequestSchema>;
export type FinishRequest = z.output<typeof finishRequestSchema>;
export type Isolation = (typeof ISOLATIONS)[number];
export type Outcome = (typeof OUTCOMES)[number];
