/** What the commands of `muster project` share: paths and answers of the API, and options. */
import { z } from "zod";
import type { CommandOptions } from "./options.ts";

/** A project as the API shows it. */
export const projectSchema = z.object({
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  visibility: z.string(),
  star_count: z.number(),
  channel: z.string(),
  created_at: z.string(),
  archived: z.boolean(),
  /** Absent if the server is alone. */
  node: z.string().optional(),
  claim_seconds: z.number().nullable(),
  strikes: z.number().nullable(),
  landing: z.object({ depth: z.number().nullable(), timeout_seconds: z.number().nullable() }),
});

/** A member of a project as the API shows it. */
export const memberSchema = z.object({ name: z.string(), kind: z.string(), role: z.string() });

/** What a command says of a project. */
export interface ProjectOptions extends CommandOptions {
  readonly name?: string;
  readonly description?: string;
  readonly visibility?: string;
  readonly channel?: string;
}

/** The request for a new project. */
export function bodyOf(slug: string, { name, description, visibility }: ProjectOptions) {
  return { slug, name, description, visibility };
}

/** The path of a project in the API. */
export function pathOf(slug: string): string {
  return `/v1/projects/${encodeURIComponent(slug)}`;
}

export const SLUG = { usage: "<project>" };
export const NAME_OPTION = { flags: "--name <name>", summary: "its display name" };
export const DESCRIPTION_OPTION = { flags: "--description <text>", summary: "its description" };
export const VISIBILITY_OPTION = {
  flags: "--visibility <who>",
  summary: "who may read it (default: private, only its members)",
  choices: ["public", "internal", "private"],
};
