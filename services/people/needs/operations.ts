import { z } from "zod";
import { serverOperation } from "../identity/server_operation.ts";
import { wholeNumber } from "../../kernel/validation/schemas.ts";
import { NEED_GROUPS, NEED_KINDS, type Needs } from "./mod.ts";

/** Most needs of one page. */
const MAX_NEEDS = 200;
const DEFAULT_NEEDS = 50;

const timeSchema = z.iso.datetime().nullable();

const needSchema = z.object({
  kind: z.enum(NEED_KINDS),
  id: z.string().meta({ example: "review/demo/3" }),
  title: z.string(),
  why: z.string(),
  actors: z.array(z.string()).readonly().meta({ description: "The accounts that must act" }),
  group: z.enum(NEED_GROUPS).nullable().meta({
    description: "Or anybody of this group may act; members: those of the project who may write",
  }),
  yours: z.boolean().meta({ description: "Whether you are one of those who must act" }),
  since: timeSchema,
  until: timeSchema.meta({ description: "When it ends by itself" }),
  project: z.string().nullable(),
  link: z.string().meta({ description: "The path of its web page" }),
}).meta({ id: "Need" });

export const listNeeds = serverOperation({
  http: "GET /v1/needs",
  on: "questions",
  summary: "List what waits for somebody, and for whom",
  description:
    "Questions, reviews, conflicts, tickets that were claimed without a result, agents " +
    "that hold a claim and are silent, and exceeded budgets, as far as you may know of them. What " +
    "waits for you comes first, then the oldest.",
  input: z.object({
    limit: wholeNumber(`Most entries; by default, ${DEFAULT_NEEDS}`, 1, MAX_NEEDS),
    offset: wholeNumber("How many entries to skip", 0, 100_000),
  }),
  ok: {
    schema: z.object({
      needs: z.array(needSchema),
      total: z.int(),
      yours: z.int().meta({ description: "How many of all wait for you" }),
    }).meta({ id: "Needs" }),
    description: "A page of what waits",
  },
  cli: {
    at: "needs",
    about: "list what waits for somebody, and who must act",
    options: {
      limit: { flags: "-n, --lines <count>", about: "most entries to list", default: MAX_NEEDS },
      offset: null,
    },
    items: "needs",
    columns: [
      "WHAT: {id}",
      "WHO MUST ACT: {actors:commas|group}",
      "WHY: {why:line}",
      "SINCE: {since:time}",
      "TITLE: {title:line}",
    ],
    examples: [{ line: "needs", purpose: "See what waits, and for whom" }],
  },
}, async ({ needs }: { readonly needs: Needs }, asked, { caller }) => {
  const { limit = DEFAULT_NEEDS, offset = 0 } = asked;
  const page = await needs.list(caller.principal, { limit, offset });
  const views = page.needs.map(({ isYours, since, until, ...need }) => ({
    ...need,
    yours: isYours,
    since: isoOf(since),
    until: isoOf(until),
  }));
  return { needs: views, total: page.total, yours: page.yours };
});

function isoOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
