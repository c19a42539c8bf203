import type { Context } from "hono";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { Forbidden, Unauthorized } from "../../services/errors.ts";
import { viewOf } from "../../services/projects/mod.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import { json } from "../schemas.ts";
import { ownSettings } from "../../services/projects/schemas.ts";
import { projectErrors, projectRoute } from "./route.ts";

export const projectSchema = z.object({
  name: z.string(),
  slug: z.string(),
  description: z.string(),
  visibility: z.enum(["public", "internal", "private"]),
  star_count: z.int(),
  archived: z.boolean(),
  created_at: z.iso.datetime(),
  channel: z.string(),
  main_branch: z.string().openapi({
    description: "The branch of requests that name no branch: the repository's setting " +
      "`main-branch` if that branch exists; otherwise the first that exists of trunk, main, " +
      "master and the branch of the oldest check-in",
  }),
  ...ownSettings,
}).openapi("RepositoryProject");

const getProject = projectRoute("GET /api/project", {
  summary: "The project",
  responses: { 200: json(projectSchema, "The project"), ...projectErrors() },
});

const starProject = projectRoute("PUT /api/star", {
  summary: "Star the project",
  responses: { 204: { description: "Starred" }, ...projectErrors() },
});

const unstarProject = projectRoute("DELETE /api/star", {
  summary: "Remove your star",
  responses: { 204: { description: "Not starred by you" }, ...projectErrors() },
});

/** `/api/project` and `/api/star`. */
export function projectRoutes({ hosting }: Pick<Services, "hosting">) {
  const { projects, repositories: { mainBranches } } = hosting;
  const star = async (context: Context<AppEnv>, starred: boolean) => {
    const { project, principal } = context.get("access");
    if (principal.kind === "guest") throw new Unauthorized("A star needs a credential");
    if (principal.id === null) throw new Forbidden("Only an account can give a star");
    await projects.star(project.slug, principal.id, starred);
    return context.body(null, 204);
  };
  return newRoutes()
    .openapi(getProject, async (context) => {
      const { held } = context.get("access");
      const main_branch = await mainBranches.of(held.project);
      return context.json({ ...viewOf(held), main_branch }, 200);
    })
    .openapi(starProject, (context) => star(context, true))
    .openapi(unstarProject, (context) => star(context, false));
}
