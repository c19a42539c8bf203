import { z } from "zod";
import { printable, remoteUrlSchema, usernameSchema } from "../mirrors/schemas.ts";

/** The body of a request that fills a project from elsewhere. */
export const importRequestSchema = z.object({
  url: remoteUrlSchema.describe("Of a Git or a Fossil repository"),
  username: usernameSchema.optional(),
  password: printable(1000).optional().describe("A password or token; it is never stored"),
});

const noticesSchema = z.object({
  counts: z.record(z.string(), z.int()),
  first: z.array(z.object({ kind: z.string(), subject: z.string(), message: z.string() })),
}).meta({ description: "What was left out: at most 200 in full" });

/** An import from elsewhere: one that runs, or the last one. */
export const importSchema = z.object({
  url: z.string(),
  state: z.enum(["running", "done", "failed", "cancelled"]),
  phase: z.enum(["asking", "receiving", "reading", "writing"]).meta({
    description: "What is done now: bytes are received, bytes of objects read, commits written",
  }),
  done: z.int().meta({ description: "Bytes or commits of this phase" }),
  total: z.int().nullable().meta({ description: "Of them; null while unknown" }),
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
  error: z.string().nullable().meta({ description: "Why it failed, or null" }),
  checkins: z.int().nullable().meta({ description: "In the project, once it is done" }),
  notices: noticesSchema.nullable(),
}).meta({ id: "Import" });

export type ImportRequest = z.infer<typeof importRequestSchema>;
export type ImportView = z.output<typeof importSchema>;
