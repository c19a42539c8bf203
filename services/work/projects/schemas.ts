import { z } from "zod";
import { TEXT_BOUNDS } from "../../engines/fossil/front/mod.ts";
import { channelName } from "../../engines/irc/mod.ts";
import { longTextSchema, trimmedLineSchema } from "../../kernel/validation/schemas.ts";

/** The name of a project in URLs and of its file. */
export const slugSchema = z.string().regex(/^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/, {
  error: "must be 1 to 64 lower-case letters, digits, hyphens and underscores, and begin and end " +
    "with a letter or digit",
});

const name = trimmedLineSchema(1, TEXT_BOUNDS.name);
const description = longTextSchema(5000);
const visibility = z.enum(["public", "internal", "private"], {
  error: 'must be "public", "internal" or "private"',
});
const channel = z.string().refine((text) => text === "" || channelName(text) !== null, {
  error: "must be a channel name, or empty",
});

/** The body of a request that makes a project. */
export const newProjectSchema = z.object({
  slug: slugSchema.refine((slug) => slug !== "new", {
    error: 'must not be "new": the page that makes projects has that address',
  }),
  /** By default, the slug. */
  name: name.optional(),
  description: description.default(""),
  visibility: visibility.default("private"),
  agents_md: z.boolean({ error: "must be true or false" }).optional().describe(
    "Whether a first check-in adds `AGENTS.md`, which tells agents how to work in the project",
  ),
});

/** A setting that a project may have for itself. */
function ownSetting(minimum: number, maximum: number) {
  return z.int({ error: "must be a whole number" }).min(minimum).max(maximum).nullable().optional();
}

/** The body of a request that changes a project. */
export const projectChangeSchema = z.object({
  name: name.optional(),
  description: description.optional(),
  visibility: visibility.optional(),
  channel: channel.nullable().optional().describe(
    "The IRC channel for the project's events; empty for none, null for the default",
  ),
  archived: z.boolean().optional().describe("An archived project is read-only"),
  claim_seconds: ownSetting(1, 31_536_000)
    .describe("In place of the server's `projects.claim_seconds`; null for the server's"),
  strikes: ownSetting(1, 1_000_000)
    .describe("In place of `projects.strikes`; null for the server's"),
  landing: z.object({
    depth: ownSetting(1, 20),
    timeout_seconds: ownSetting(1, 31_536_000),
  }).optional().describe("In place of `projects.landing`; null for the server's"),
});

export const memberRequestSchema = z.object({
  role: z.enum(["read", "write", "admin"], { error: 'must be "read", "write" or "admin"' }),
});

export type NewProject = z.infer<typeof newProjectSchema>;
export type ProjectChange = z.infer<typeof projectChangeSchema>;

/** What a node asks of a repository that another node has. */
export const sharedReadSchema = z.strictObject({
  operation: z.enum(["tickets", "branches", "resolveTicket", "search"]),
  input: z.array(z.unknown()),
});
export type SharedRead = z.infer<typeof sharedReadSchema>;

/** A project's own setting, as it is. */
function shownSetting(description: string) {
  return z.int().nullable().meta({ description: `${description}; null for the server's` });
}

/** The fields of a project's own settings; spread them into the object of a project. */
export const ownSettings = {
  claim_seconds: shownSetting("How long a claim lasts after the last write"),
  strikes: shownSetting("Claims without a result after which a ticket waits for a person"),
  landing: z.object({
    depth: shownSetting("Landings that are tested at the same time"),
    timeout_seconds: shownSetting("Time limit of a candidate's checks"),
  }),
};

/** A project as the operator's API shows it. */
export const projectRecordSchema = z.object({
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  visibility: z.enum(["public", "internal", "private"]),
  star_count: z.int(),
  channel: z.string().meta({ description: "The IRC channel of its events; empty for none" }),
  created_at: z.iso.datetime(),
  archived: z.boolean(),
  node: z.string().optional().meta({
    description: "The node with its repository, if there are several",
  }),
  ...ownSettings,
}).meta({ id: "Project" });

/** A project as its own API shows it. */
export const projectSchema = z.object({
  name: z.string(),
  slug: z.string(),
  description: z.string(),
  visibility: z.enum(["public", "internal", "private"]),
  star_count: z.int(),
  archived: z.boolean(),
  created_at: z.iso.datetime(),
  channel: z.string(),
  main_branch: z.string().meta({
    description: "The branch of requests that name no branch: the repository's setting " +
      "`main-branch` if that branch exists; otherwise the first that exists of trunk, main, " +
      "master and the branch of the oldest check-in",
  }),
  you: z.string().nullable().meta({
    description: "The name in which you act here; null without a credential",
  }),
  ...ownSettings,
}).meta({ id: "RepositoryProject" });

/**
 * The id of an artifact or a ticket, or a unique prefix of at least 4 digits. The engine answers an
 * ambiguous prefix with 400, and an unknown or malformed one with 404. Resolve the id first, and
 * use only the whole id from then on.
 */
export const idSchema = z.string().transform((id) => id.toLowerCase()).meta({
  description: "The id, or a unique prefix of it",
  pattern: "^[0-9a-fA-F]{4,64}$",
});

/** A time in the contract's format. */
export const timestampSchema = z.iso.datetime({ offset: true });

/** A parameter that asks for texts as HTML too. */
export const htmlParameter = {
  html: z.enum(["true", "false"], { error: 'must be "true" or "false"' }).optional().meta({
    description: "`true` also returns the texts as HTML without scripts, styles, frames and forms",
  }),
};

/** A text as HTML. */
export const htmlSchema = z.string().optional().meta({ description: "As HTML, with `html=true`" });

const MAX_PER_PAGE = 100;
const PER_PAGE = 25;

/**
 * Reads a number of a query as the contract demands: the nearest bound if it is out of range, the
 * default if it is no number.
 */
export function boundedNumber(
  description: string,
  fallback: number,
  maximum: number,
  minimum = 1,
) {
  return z.union([z.string(), z.int()]).optional().transform((given) => {
    const number = /^-?\d{1,15}$/.test(String(given)) ? Number(given) : fallback;
    return Math.min(Math.max(number, minimum), maximum);
  }).meta({ type: "integer", default: fallback, description });
}

/** The query parameters of a list with pages; spread them into the query's schema. */
export const pageParameters = {
  page: boundedNumber("The page, from 1", 1, 1_000_000),
  per_page: boundedNumber(`Items per page, at most ${MAX_PER_PAGE}`, PER_PAGE, MAX_PER_PAGE),
};

/** The page that a request asks for. */
export interface PageRequest {
  readonly page: number;
  readonly per_page: number;
}

/** The fields of an answer with pages; spread them into the answer's schema. */
export const pageFields = {
  total: z.int().meta({ description: "Items on all pages" }),
  page: z.int(),
  per_page: z.int(),
  total_pages: z.int().meta({ description: "At least 1" }),
};

/** The offset and the length of a page, for the engine and SQL. */
export function rangeOf({ page, per_page }: PageRequest): { limit: number; offset: number } {
  return { limit: per_page, offset: (page - 1) * per_page };
}

/** The values of {@link pageFields}. */
export function pageOf({ page, per_page }: PageRequest, total: number) {
  return { total, page, per_page, total_pages: Math.max(1, Math.ceil(total / per_page)) };
}

/** The fields of an object that have a value. */
export function given<Fields extends object>(fields: Fields) {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> };
}

/** A pointer of Git LFS. */
export const lfsPointerSchema = z.object({
  oid: z.string().meta({ description: "The SHA-256 of the content" }),
  size: z.int().meta({ description: "Bytes of the content" }),
}).meta({ id: "LfsPointer" });
