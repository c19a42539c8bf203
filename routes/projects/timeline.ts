import {
  pageFields,
  pageOf,
  pageParameters,
  rangeOf,
  timestampSchema,
} from "../../services/projects/schemas.ts";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { newRoutes } from "../context.ts";
import { json } from "../schemas.ts";
import { answerJson, notModified } from "./answers.ts";
import { projectErrors, projectRoute } from "./route.ts";
import { checkinSchema } from "./schemas.ts";

/** The conditions that both lists take. */
const conditions = {
  user: z.string().optional().openapi({ description: "Only what this user did" }),
  before: z.string().optional().openapi({
    description: "Only what is older than a moment (ISO 8601) or a check-in of any name",
  }),
  after: z.string().optional().openapi({ description: "Like `before`, for what is newer" }),
};

const graphRowSchema = z.object({
  lane: z.int().openapi({ description: "The lane of the check-in, from 0 at the left" }),
  passing: z.array(z.int()).readonly().openapi({ description: "Lanes of the lines that pass it" }),
  links: z.array(z.object({
    parent: z.string(),
    lane: z.int().openapi({ description: "The lane in which the line runs down" }),
    is_merge: z.boolean(),
  })).readonly(),
}).openapi("GraphRow");

export const timelineSchema = z.object({
  checkins: z.array(checkinSchema).readonly(),
  graph: z.array(graphRowSchema).readonly().optional().openapi({
    description: "With `graph=true`, the lines beside each check-in",
  }),
  ...pageFields,
})
  .openapi("Timeline");

const getTimeline = projectRoute("GET /api/timeline", {
  summary: "Check-ins, newest first",
  request: {
    query: z.object({
      ...pageParameters,
      ...conditions,
      branch: z.string().optional().openapi({ description: "Only check-ins of this branch" }),
      path: z.string().optional().openapi({
        description: "Only check-ins that change this file, or anything in this folder",
      }),
      graph: z.enum(["true", "false"]).optional().openapi({
        description: "`true` adds the lines from check-ins to their parents",
      }),
    }),
  },
  responses: {
    200: json(timelineSchema, "A page of check-ins"),
    ...notModified,
    ...projectErrors(400),
  },
});

const KINDS = ["checkin", "wiki", "ticket", "technote", "forum", "tag"] as const;

export const activitySchema = z.object({
  events: z.array(z.object({
    kind: z.enum(KINDS),
    uuid: z.string(),
    timestamp: timestampSchema,
    user: z.string(),
    comment: z.string(),
  })).readonly(),
  ...pageFields,
}).openapi("Activity");

const getActivity = projectRoute("GET /api/activity", {
  summary: "What happened in the repository, of any kind, newest first",
  request: {
    query: z.object({
      ...pageParameters,
      ...conditions,
      kind: z.enum(KINDS).optional().openapi({ description: "Only events of this kind" }),
    }),
  },
  responses: {
    200: json(activitySchema, "A page of events"),
    ...notModified,
    ...projectErrors(400),
  },
});

/** `/api/timeline` and `/api/activity`. */
export function timelineRoutes(services: Pick<Services, "hosting">) {
  return newRoutes()
    .openapi(getTimeline, (context) => {
      const { branch, path, user, before, after, graph, ...page } = context.req.valid("query");
      const wanted = given({ branch, path, user, before, after });
      return answerJson<z.infer<typeof timelineSchema>>(context, services, async (repository) => {
        const { total, ...found } = await repository.timeline({
          ...rangeOf(page),
          ...wanted,
          ...(graph === "true" ? { graph: true } : {}),
        });
        return { ...found, ...pageOf(page, total) };
      });
    })
    .openapi(getActivity, (context) => {
      const { kind, user, before, after, ...page } = context.req.valid("query");
      const wanted = given({ user, before, after });
      return answerJson<z.infer<typeof activitySchema>>(context, services, async (repository) => {
        const { events, total } = await repository.activity({
          ...rangeOf(page),
          ...wanted,
          ...(kind === undefined ? {} : { kinds: [kind] }),
        });
        // What a moderator has not approved yet is nobody's but its author's.
        const shown = events.filter((event) => !event.awaits_approval)
          .map(({ awaits_approval: _, ...event }) => event);
        return { events: shown, ...pageOf(page, total) };
      });
    });
}

/** The values that are not undefined. */
function given<Values extends Record<string, string | undefined>>(
  values: Values,
): { [Key in keyof Values]?: string } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof Values]?: string };
}
