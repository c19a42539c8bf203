import { z } from "@hono/zod-openapi";
import type { Services } from "../../services/daemon/mod.ts";
import { json } from "../schemas.ts";
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

const listBranches = projectRoute("GET /api/branches", {
  summary: "Every branch, open or closed, the one with the newest check-in first",
  responses: {
    200: json(z.object({ branches: z.array(branchSchema).readonly() }), "The branches"),
    ...projectErrors(),
  },
});

const listTags = projectRoute("GET /api/tags", {
  summary: "Every tag, newest first",
  responses: {
    200: json(z.object({ tags: z.array(tagSchema).readonly() }), "The tags"),
    ...projectErrors(),
  },
});

/** `/api/branches` and `/api/tags`: what check-ins are called. */
export function nameRoutes({ hosting: { repositories } }: Pick<Services, "hosting">) {
  return newProjectRoutes()
    .openapi(listBranches, async (context) => {
      const { project } = context.get("access");
      const branches = await repositories.read(project, (repository) => repository.branches());
      return context.json({ branches }, 200);
    })
    .openapi(listTags, async (context) => {
      const { project } = context.get("access");
      const tags = await repositories.read(project, (repository) => repository.tags());
      return context.json({ tags }, 200);
    });
}
