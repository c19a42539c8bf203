import {
  pageFields,
  pageOf,
  pageParameters,
  rangeOf,
  timestampSchema,
} from "../../services/projects/schemas.ts";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { Invalid } from "../../services/errors.ts";
import type { SearchKind, SearchMatch } from "../../services/fossil/mod.ts";
import { newRoutes } from "../context.ts";
import { json } from "../schemas.ts";
import { answerJson, notModified } from "./answers.ts";
import { projectErrors, projectRoute } from "./route.ts";

/** The groups of an answer, by the kind of their matches. */
export const GROUPS = {
  checkin: "checkins",
  ticket: "tickets",
  wiki: "wiki",
  technote: "technotes",
  forum: "forum",
  code: "code",
} as const satisfies Record<SearchKind, string>;

/** The kinds of a search that names none. */
const DEFAULT_KINDS: readonly SearchKind[] = ["checkin", "ticket", "wiki"];

const matchFields = {
  snippet: z.string().openapi({ description: "Text around the match" }),
  highlights: z.array(
    // Few clients know a tuple's own keyword.
    z.tuple([z.int(), z.int()]).readonly().openapi({
      type: "array",
      items: { type: "integer" },
      minItems: 2,
      maxItems: 2,
    }),
  ).readonly().openapi({
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
    checkin: z.string().openapi({ description: "The check-in whose files were searched" }),
    path: z.string(),
    uuid: z.string(),
    line: z.int().openapi({ description: "The line of the first match, from 1" }),
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
  q: z.string().optional().openapi({
    param: { name: "q", in: "query", required: true },
    description: "At most 1000 characters and 32 words; not blank",
    pattern: "\\S",
  }),
  kind: z.enum(["checkin", "ticket", "wiki", "technote", "forum", "code"]).optional(),
};

/** @throws Invalid if there is nothing to search for */
export function requireWords(q: string): string {
  if (q.trim() === "") throw new Invalid("Query parameter 'q' is required");
  return q;
}

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
  is_complete: z.boolean().openapi({
    description: "False while the repository is being indexed: matches can be missing",
  }),
  totals: z.record(z.string(), z.int()).openapi({ description: "Matches of each group" }),
  ...pageFields,
}).openapi("Search");

const search = projectRoute("GET /api/search", {
  summary: "Full text search, best matches first",
  description: 'All words must occur; `"a phrase"`, `prefix*` and `-without` also work. Searches ' +
    "check-in comments, tickets with their comments, and wiki pages, or only one `kind`; `code` is " +
    "the files at the tip of the main branch. Each group has its own pages.",
  request: {
    query: z.object({ ...pageParameters, ...searchParameters }),
  },
  responses: {
    200: json(searchSchema, "The matches"),
    ...notModified,
    ...projectErrors(400),
  },
});

/** `/api/search`. */
export function searchRoutes(services: Pick<Services, "hosting">) {
  return newRoutes().openapi(search, (context) => {
    const { q = "", kind, ...page } = context.req.valid("query");
    requireWords(q);
    const kinds = kind === undefined ? DEFAULT_KINDS : [kind];
    const { indexes } = services.hosting.repositories;
    const { project } = context.get("access");
    return answerJson<z.infer<typeof searchSchema>>(context, services, async (repository) => {
      const results = await repository.searchEach({ query: q, kinds, ...rangeOf(page) });
      const is_complete = results.every((result) => result.is_complete);
      if (!is_complete) indexes.update(project);
      const groups = results.map(({ kind, matches }) => [GROUPS[kind], matches.map(withoutKind)]);
      const totals = results.map(({ kind, total }) => [GROUPS[kind], total] as const);
      const { total_pages } = pageOf(page, Math.max(...totals.map(([, total]) => total)));
      const total = totals.reduce((sum, [, count]) => sum + count, 0);
      return {
        ...Object.fromEntries(groups),
        is_complete,
        totals: Object.fromEntries(totals),
        ...pageOf(page, total),
        total_pages,
      };
    }, ({ is_complete }) => !is_complete);
  });
}

function withoutKind({ kind: _, ...match }: SearchMatch) {
  return match;
}
