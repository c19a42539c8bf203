import { z } from "zod";
import type { SearchKind } from "../../engines/fossil/mod.ts";
import { pageFields, timestampSchema } from "../projects/schemas.ts";

/** The groups of an answer, by the kind of their matches. */
export const GROUPS = {
  checkin: "checkins",
  ticket: "tickets",
  wiki: "wiki",
  technote: "technotes",
  forum: "forum",
  code: "code",
} as const satisfies Record<SearchKind, string>;

const matchFields = {
  snippet: z.string().meta({ description: "Text around the match" }),
  highlights: z.array(
    // Few clients know a tuple's own keyword.
    z.tuple([z.int(), z.int()]).readonly().meta({
      type: "array",
      items: { type: "integer" },
      minItems: 2,
      maxItems: 2,
    }),
  ).readonly().meta({
    description: "Start and end of each matching word in the snippet, in UTF-16 units",
  }),
};

/** What a match of each kind has. */
const MATCHES = {
  checkin: z.object({
    uuid: z.string(),
    timestamp: timestampSchema,
    user: z.string(),
    comment: z.string(),
    ...matchFields,
  }),
  ticket: z.object({
    uuid: z.string(),
    title: z.string(),
    status: z.string(),
    created: timestampSchema,
    ...matchFields,
  }),
  wiki: z.object({ name: z.string(), last_modified: timestampSchema, ...matchFields }),
  technote: z.object({
    id: z.string(),
    comment: z.string(),
    last_modified: timestampSchema,
    ...matchFields,
  }),
  forum: z.object({
    uuid: z.string(),
    title: z.string(),
    last_modified: timestampSchema,
    ...matchFields,
  }),
  code: z.object({
    checkin: z.string().meta({ description: "The check-in whose files were searched" }),
    path: z.string(),
    uuid: z.string(),
    line: z.int().meta({ description: "The line of the first match, from 1" }),
    ...matchFields,
  }),
} as const satisfies Record<SearchKind, z.ZodObject>;

/** A match of any kind, which it names. */
export const matchSchema = z.discriminatedUnion("kind", [
  MATCHES.checkin.extend({ kind: z.literal("checkin") }),
  MATCHES.ticket.extend({ kind: z.literal("ticket") }),
  MATCHES.wiki.extend({ kind: z.literal("wiki") }),
  MATCHES.technote.extend({ kind: z.literal("technote") }),
  MATCHES.forum.extend({ kind: z.literal("forum") }),
  MATCHES.code.extend({ kind: z.literal("code") }),
]);

/** The words to search for, and where. */
export const searchParameters = {
  q: z.string().optional().meta({
    param: { name: "q", in: "query", required: true },
    description: "At most 1000 characters and 32 words; not blank",
    pattern: "\\S",
  }),
  kind: z.enum(["checkin", "ticket", "wiki", "technote", "forum", "code"]).optional(),
};

function group<Shape extends z.ZodRawShape>(match: z.ZodObject<Shape>) {
  return z.array(match).readonly().optional();
}

export const searchSchema = z.object({
  checkins: group(MATCHES.checkin),
  tickets: group(MATCHES.ticket),
  wiki: group(MATCHES.wiki),
  technotes: group(MATCHES.technote),
  forum: group(MATCHES.forum),
  code: group(MATCHES.code),
  is_complete: z.boolean().meta({
    description: "False while the repository is being indexed: matches can be missing",
  }),
  totals: z.record(z.string(), z.int()).meta({ description: "Matches of each group" }),
  ...pageFields,
}).meta({ id: "Search" });
