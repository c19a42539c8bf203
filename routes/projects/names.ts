import { timestampSchema } from "../../services/projects/schemas.ts";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { shownText } from "../../services/fossil/front/mod.ts";
import { actorOf } from "../../services/projects/mod.ts";
import { newTagSchema } from "../../services/releases/schemas.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { json, jsonRequest } from "../schemas.ts";
import { answerJson, notModified } from "./answers.ts";
import { projectErrors, projectRoute } from "./route.ts";

const branchSchema = z.object({
  name: z.string(),
  status: z.enum(["open", "closed"]),
  last_uuid: z.string(),
  last_checkin: timestampSchema,
  last_user: z.string(),
  checkin_count: z.int(),
  is_private: z.boolean(),
  ahead: z.int().nullable().optional().openapi({
    description: "With `divergence=true`, check-ins that it has and the main branch lacks; null " +
      "if counting would take too long",
  }),
  behind: z.int().nullable().optional().openapi({
    description: "With `divergence=true`, check-ins that the main branch has and it lacks",
  }),
  is_merged: z.boolean().optional().openapi({
    description: "With `divergence=true`, whether the main branch has its newest check-in",
  }),
  is_named: z.boolean().optional().openapi({
    description:
      "With `divergence=true`, whether its name stands for `last_uuid`; not if a newer " +
      "check-in of another branch has the name as a tag",
  }),
}).openapi("Branch");

const tagSchema = z.object({
  name: z.string(),
  uuid: z.string(),
  timestamp: timestampSchema,
  user: z.string(),
  checkin_count: z.int(),
}).openapi("Tag");

export const branchesSchema = z.object({ branches: z.array(branchSchema).readonly() });
export const tagsSchema = z.object({ tags: z.array(tagSchema).readonly() });

export const newTagResponse = z.object({ name: z.string(), uuid: z.string() }).openapi(
  "CreatedTag",
);

const listBranches = projectRoute("GET /api/branches", {
  summary: "All branches, open and closed, the one with the newest check-in first",
  request: {
    query: z.object({
      divergence: z.enum(["true", "false"]).optional().openapi({
        description: "`true` adds how far each branch is from the main branch",
      }),
    }),
  },
  responses: {
    200: json(branchesSchema, "The branches"),
    ...notModified,
    ...projectErrors(400),
  },
});

const listTags = projectRoute("GET /api/tags", {
  summary: "All tags, newest first",
  responses: {
    200: json(tagsSchema, "The tags"),
    ...notModified,
    ...projectErrors(),
  },
});

export const contributorsSchema = z.object({
  contributors: z.array(z.object({
    user: z.string(),
    checkin_count: z.int(),
    first_checkin: timestampSchema,
    last_checkin: timestampSchema,
  })).readonly().openapi({
    description:
      "The one with the most check-ins first. The empty check-in that begins a repository does not count",
  }),
  months: z.array(z.object({
    month: z.string().openapi({ description: "Such as `2026-01`, UTC" }),
    checkin_count: z.int(),
  })).readonly().openapi({ description: "Every month with a check-in, the oldest first" }),
}).openapi("Contributors");

const listContributors = projectRoute("GET /api/contributors", {
  summary: "Who made check-ins, and how many were made in each month",
  responses: {
    200: json(contributorsSchema, "The contributors"),
    ...notModified,
    ...projectErrors(),
  },
});

const createTag = projectRoute("POST /api/tags", {
  summary: "Tag a check-in",
  request: {
    body: jsonRequest(newTagSchema.meta({ id: "TagRequest" }), {
      name: "v1.2.0",
      checkin: "trunk",
    }),
  },
  responses: {
    201: json(newTagResponse, "The tag"),
    ...projectErrors(400, 409, 413),
  },
});

/** `/api/branches`, `/api/tags` and `/api/contributors`. */
export function nameRoutes(services: Pick<Services, "hosting" | "accounts">) {
  const { hosting: { repositories }, accounts } = services;
  return newRoutes()
    .openapi(listBranches, (context) =>
      answerJson<z.infer<typeof branchesSchema>>(
        context,
        services,
        async (repository) => {
          const isDiverged = context.req.valid("query").divergence === "true";
          const branches =
            await (isDiverged ? repository.divergedBranches() : repository.branches());
          return { branches: branches.map(shown) };
        },
      ))
    .openapi(listTags, (context) =>
      answerJson<z.infer<typeof tagsSchema>>(
        context,
        services,
        async (repository) => ({ tags: await repository.tags() }),
      ))
    .openapi(listContributors, (context) =>
      answerJson<z.infer<typeof contributorsSchema>>(
        context,
        services,
        (repository) => repository.contributions(),
      ))
    .openapi(createTag, async (context) => {
      const access = context.get("access");
      const { name, checkin, message } = context.req.valid("json");
      const uuid = await repositories.write(access.project, {
        caller: callerOf(context),
        user: actorOf(access, undefined, accounts).name,
        write: async (repository, stamp) => {
          const { uuid } = await repository.resolveCheckin(checkin);
          await repository.tagCheckin({ ...stamp, name, checkin: uuid, message });
          return uuid;
        },
      });
      return context.json({ name, uuid }, 201);
    });
}

/** A branch whose name is cut as pages cut it: one that came in an import may have any length. */
function shown<Named extends { readonly name: string }>(branch: Named): Named {
  return { ...branch, name: shownText(branch.name, "name") };
}
