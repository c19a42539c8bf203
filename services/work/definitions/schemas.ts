/** What `.muster/checks.yaml` may hold, as its author writes it, and what it means. */
import { Cron } from "croner";
import { z } from "zod";
import { closed, lineSchema, longTextSchema } from "../../kernel/validation/schemas.ts";
import { cacheKeyFault } from "./cache_key.ts";

export const MAX_CHECKS = 50;
const MAX_COMMANDS = 100;
const MAX_COMMAND = 16_384;
const MAX_NAME = 100;
const MAX_ENTRIES = 50;
const MAX_PATH = 500;

/** A job ends after this time, in seconds, if its check names none. */
const DEFAULT_TIMEOUT = 3600;
const MAX_TIMEOUT = 86_400;

const MEGABYTES: Readonly<Record<string, number>> = { MB: 1, GB: 1024 };
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/** A name that can stand in a path, in a context of protection, and on IRC. */
const nameSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/, {
  error: `must be a name of at most ${MAX_NAME} letters, digits and . _ / -`,
});

const commandSchema = longTextSchema(MAX_COMMAND).refine((text) => text.trim() !== "", {
  error: "must not be empty",
});

const timeoutSchema = z.string({ error: "must be a time such as 15m or 2h" })
  .regex(/^[1-9]\d{0,5}[smh]$/, { error: "must be a time such as 90s, 15m or 2h" })
  .transform((text) => Number(text.slice(0, -1)) * (SECONDS[text.slice(-1)] ?? 1))
  .refine((seconds) => seconds <= MAX_TIMEOUT, { error: "must be at most 24h" });

/** @param most in MB */
function sizeSchema(least: number, most: number) {
  return z.string({ error: "must be a size such as 512MB or 4GB" })
    .regex(/^[1-9]\d{0,5}[MG]B$/, { error: "must be a size such as 512MB or 4GB" })
    .transform((text) => Number(text.slice(0, -2)) * (MEGABYTES[text.slice(-2)] ?? 1))
    .refine((size) => size >= least && size <= most, {
      error: `must be from ${least}MB to ${most / 1024}GB`,
    });
}

/** A path or a pattern of paths, which stays below the checkout. */
const pathSchema = lineSchema(1, MAX_PATH).refine(isBelow, {
  error: "must be a path below the checkout: without a / at its beginning, and without ..",
});

function isBelow(path: string): boolean {
  return !path.startsWith("/") && !path.includes("\\") && !path.split("/").includes("..");
}

const variableSchema = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, {
  error: "must be the name of a variable: letters, digits and _",
}).refine((name) => !name.startsWith("MUSTER_"), {
  error: "must not begin with MUSTER_, which muster sets itself",
});

const valueSchema = z.union([longTextSchema(MAX_COMMAND), z.int(), z.boolean()], {
  error: "must be a text, in quotes if it looks like a number",
}).transform(String);

const cronSchema = z.string().max(100).superRefine((text, context) => {
  const message = cronFault(text);
  if (message !== null) context.addIssue({ code: "custom", message });
});

/** Five fields: a check that runs by the second would do nothing else. */
function cronFault(text: string): string | null {
  if (text.trim().split(/\s+/).length !== 5) {
    return 'must have the five fields of cron, such as "30 4 * * 1-5"';
  }
  try {
    const next = new Cron(text, { paused: true, timezone: "UTC" }).nextRun();
    return next === null ? "names a time that never comes" : null;
  } catch {
    return 'is not a time of cron, such as "30 4 * * 1-5"';
  }
}

const triggerSchema = z.union([
  z.enum(["review", "landing", "push"]),
  z.object({ push: z.object({ branches: z.array(lineSchema(1, 200)).min(1).max(MAX_ENTRIES) }) }),
  z.object({ cron: cronSchema }),
], {
  error: 'must be review, landing, push, { push: { branches: […] } } or { cron: "…" }',
});

function several<Schema extends z.ZodType>(schema: Schema, most = MAX_ENTRIES) {
  return z.array(schema).max(most, { error: `must have at most ${most} entries` });
}

const checkSchema = z.object({
  run: z.union([commandSchema, several(commandSchema, MAX_COMMANDS).min(1)], {
    error: ({ input }) => input === undefined ? "is required" : undefined,
  })
    .transform((run) => [run].flat())
    .describe("The command, or commands that run one after the other until one fails"),
  shell: z.enum(["sh", "bash", "zsh"]).default("sh")
    .describe("What runs each command, with -e"),
  timeout: timeoutSchema.prefault(`${DEFAULT_TIMEOUT / 60}m`)
    .describe("How long all commands together may take: 90s, 15m, 2h"),
  needs: several(nameSchema).default([])
    .describe("Checks that must succeed first"),
  on: several(triggerSchema).min(1).prefault(["review", "landing"])
    .describe("When the check runs: on a review, before landing, after a push, at times"),
  labels: several(nameSchema).default([])
    .describe("Labels that a runner must have; none: any runner"),
  env: z.record(variableSchema, valueSchema).default({})
    .describe("Variables of the environment"),
  secrets: several(variableSchema).default([])
    .describe("Secrets of the project, as variables; never given to code that has not landed"),
  artifacts: several(pathSchema).default([])
    .describe("Patterns of the files to keep: coverage/**"),
  cache: z.object({
    key: lineSchema(1, 200).superRefine((key, context) => {
      const message = cacheKeyFault(key, isBelow);
      if (message !== null) context.addIssue({ code: "custom", message });
    }).describe("Another key is another cache; ${hash:FILE} stands for what a file holds"),
    paths: several(pathSchema).min(1).describe("Files and folders to keep"),
  }).nullable().default(null).describe("What the next job with the same key begins with"),
  network: z.boolean().default(false)
    .describe("Whether the check may use the network"),
  image: lineSchema(1, 300).regex(/^[A-Za-z0-9][A-Za-z0-9._/:@-]*$/, {
    error: "must be the name of an image, such as docker.io/library/debian:13",
  }).nullable().default(null).describe(
    "The image of a container, for runners with podman or docker",
  ),
  memory: sizeSchema(16, 1024 * 1024).prefault("4GB")
    .describe("Most memory of all its processes together"),
  processes: z.int().min(4).max(65_536).default(1024)
    .describe("Most processes and threads at a time"),
  disk: sizeSchema(1, 1024 * 1024).prefault("10GB")
    .describe("Most space of what it writes"),
  concurrency: z.union([
    nameSchema,
    z.object({ group: nameSchema, cancel: z.boolean().default(false) }),
  ], { error: "must be the name of a group, or { group, cancel }" })
    .transform((given) => typeof given === "string" ? { group: given, cancel: false } : given)
    .nullable().default(null)
    .describe("Of a group, one job at a time runs; with cancel, a later one ends the earlier"),
});

/** The whole file. */
export const definitionSchema = closed(z.object({
  checks: z.record(nameSchema, checkSchema).refine(
    (checks) => Object.keys(checks).length <= MAX_CHECKS,
    { error: `must define at most ${MAX_CHECKS} checks` },
  ).describe("Each check by its name, which is the context of its reports"),
  github_workflows: z.boolean().default(false)
    .describe("Whether the workflows of .github/workflows run here"),
}));

/** When a check runs. */
export interface Triggers {
  readonly review: boolean;
  readonly landing: boolean;
  /** Patterns of branches; an empty list means the main branch; null: not on a push. */
  readonly push: readonly string[] | null;
  /** Times of cron, in UTC. */
  readonly cron: readonly string[];
}

export interface DefinitionLimits {
  readonly memoryMb: number;
  readonly processes: number;
  readonly diskMb: number;
}

export interface DefinitionCache {
  /** As it is written: see `keyOfCache`. */
  readonly key: string;
  readonly paths: readonly string[];
}

export interface Concurrency {
  readonly group: string;
  /** Whether a later job of the group ends an earlier one. */
  readonly cancel: boolean;
}

/** One check, with a value for everything that its author left out. */
export interface CheckDefinition {
  /** Its name, and the context of its reports. */
  readonly name: string;
  readonly commands: readonly string[];
  readonly shell: string;
  readonly timeoutSeconds: number;
  /** Checks of the same definition; there is no circle, and each runs wherever this one does. */
  readonly needs: readonly string[];
  readonly on: Triggers;
  readonly labels: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Names of the project's secrets. */
  readonly secrets: readonly string[];
  readonly artifacts: readonly string[];
  readonly cache: DefinitionCache | null;
  readonly network: boolean;
  readonly image: string | null;
  readonly limits: DefinitionLimits;
  readonly concurrency: Concurrency | null;
}

/** What a `.muster/checks.yaml` means. */
export interface Definition {
  /** In the order of the file. */
  readonly checks: readonly CheckDefinition[];
  /** Whether the workflows of `.github/workflows` run. */
  readonly githubWorkflows: boolean;
}

/** The schema of the file, for editors (JSON Schema, draft 2020-12). */
export function definitionJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    $id: "https://muster/schemas/checks.json",
    title: "Checks of muster (.muster/checks.yaml)",
    ...z.toJSONSchema(definitionSchema, { io: "input", unrepresentable: "any" }),
  };
}
