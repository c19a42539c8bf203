import { z } from "@hono/zod-openapi";
import type { Services } from "../../services/daemon/mod.ts";
import { actorOf } from "../../services/projects/mod.ts";
import { newTagSchema } from "../../services/releases/mod.ts";
import { callerOf, newRoutes } from "../context.ts";
import { json, jsonRequest } from "../schemas.ts";
import { answerJson, notModified } from "./answers.ts";
import { projectErrors, projectRoute } from "./route.ts";
import { timestampSchema } from "./schemas.ts";

const branchSchema = z.object({
  name: z.string(),
  status: z.enum(["open", "closed"]),
  last_uuid: z.string(),
  last_checkin: timestampSchema,
  last_user: z.string(),
  checkin_count: z.int(),
  is_private: z.boolean(),
}).openapi("Branch");

const tagSchema = z.object({
  name: z.string(),
  uuid: z.string(),
  timestamp: timestampSchema,
  user: z.string(),
  checkin_count: z.int(),
}).openapi("Tag");

const branchesSchema = z.object({ branches: z.array(branchSchema).readonly() });
const tagsSchema = z.object({ tags: z.array(tagSchema).readonly() });

const listBranches = projectRoute("GET /api/branches", {
  summary: "All branches, open and closed, the one with the newest check-in first",
  responses: {
    200: json(branchesSchema, "The branches"),
    ...notModified,
    ...projectErrors(),
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

const createTag = projectRoute("POST /api/tags", {
  summary: "Tag a check-in",
  request: {
    body: jsonRequest(newTagSchema.meta({ id: "TagRequest" }), {
      name: "v1.2.0",
      checkin: "trunk",
    }),
  },
  responses: {
    201: json(z.object({ name: z.string(), uuid: z.string() }).openapi("NewTag"), "The tag"),
    ...projectErrors(400, 409, 413),
  },
});

/** `/api/branches` and `/api/tags`. */
export function nameRoutes(services: Pick<Services, "hosting" | "accounts">) {
  const { hosting: { repositories }, accounts } = services;
  return newRoutes()
    .openapi(listBranches, (context) =>
      answerJson<z.infer<typeof branchesSchema>>(
        context,
        services,
        async (repository) => ({ branches: await repository.branches() }),
      ))
    .openapi(listTags, (context) =>
      answerJson<z.infer<typeof tagsSchema>>(
        context,
        services,
        async (repository) => ({ tags: await repository.tags() }),
      ))
    .openapi(createTag, async (context) => {
      const access = context.get("access");
      const { name, checkin = "trunk", message } = context.req.valid("json");
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
