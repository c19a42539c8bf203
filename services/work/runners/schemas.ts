import { z } from "zod";

/** Most labels of a runner or a check, and most projects that a runner names. */
export const MAX_LABELS = 32;
const MAX_PROJECTS = 200;

/** The name of a runner: it stands in reports, as `runner NAME`. */
export const runnerNameSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
  error:
    "must be letters, digits, '.', '_' and '-', at most 64, and begin with a letter or a digit",
});

/** A label, by which a check names the runners that can run it. */
export const labelSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/, {
  error: "must be letters, digits, '.', '_', ':' and '-', at most 64",
});

/** The request for a new runner. */
export const newRunnerSchema = z.object({
  name: runnerNameSchema,
  labels: z.array(labelSchema).max(MAX_LABELS).default([]).describe(
    "What it has: a check that names labels runs where all of them are",
  ),
  projects: z.array(z.string()).min(1).max(MAX_PROJECTS).nullable().default(null).describe(
    "The projects whose jobs it takes; null for all",
  ),
});

/** A runner as the API shows it. */
export const runnerSchema = z.object({
  name: z.string(),
  labels: z.array(z.string()),
  projects: z.array(z.string()).nullable().meta({
    description: "The projects whose jobs it takes; null for all",
  }),
  paused: z.boolean(),
  jobs: z.int().meta({ description: "Jobs that it runs now" }),
  isolation: z.array(z.string()).meta({ description: "How it can keep jobs apart" }),
  version: z.string(),
  created_by: z.string(),
  created_at: z.iso.datetime(),
  last_seen: z.iso.datetime().nullable(),
}).meta({ id: "Runner" });

/** A new runner, with its token. */
export const issuedRunnerSchema = runnerSchema.extend({
  token: z.string().meta({ description: "Shown once" }),
}).meta({ id: "IssuedRunner" });

export type NewRunner = z.output<typeof newRunnerSchema>;
export type RunnerView = z.output<typeof runnerSchema>;
