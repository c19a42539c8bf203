import { z } from "@hono/zod-openapi";
import type { Services } from "../../services/daemon/mod.ts";
import { json } from "../schemas.ts";
import { answerJson, notModified } from "./answers.ts";
import { newProjectRoutes } from "./context.ts";
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
  summary: "Every branch, open or closed, the one with the newest check-in first",
  responses: {
    200: json(branchesSchema, "The branches"),
    ...notModified,
    ...projectErrors(),
  },
});

const listTags = projectRoute("GET /api/tags", {
  summary: "Every tag, newest first",
  responses: {
    200: json(tagsSchema, "The tags"),
    ...notModified,
    ...projectErrors(),
  },
});

/** `/api/branches` and `/api/tags`: what check-ins are called. */
export function nameRoutes(services: Pick<Services, "hosting">) {
  return newProjectRoutes()
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
      ));
}
