import { z } from "zod";
import { Forbidden, Unauthorized } from "../../kernel/errors.ts";
import { operation, type OperationCall } from "./operation.ts";
import type { Projects } from "./projects.ts";
import { viewOf } from "./records.ts";
import type { ProjectRepositories } from "./repositories.ts";
import { projectSchema } from "./schemas.ts";

export const getProject = operation({
  http: "GET /api/project",
  needs: "read",
  summary: "The project",
  input: z.object({}),
  ok: { schema: projectSchema, description: "The project" },
}, async (
  { hosting: { repositories } }: {
    readonly hosting: { readonly repositories: Pick<ProjectRepositories, "mainBranches"> };
  },
  _input,
  { access: { held, principal }, project },
) => ({
  ...viewOf(held),
  main_branch: await repositories.mainBranches.of(project),
  you: principal.kind === "guest" ? null : principal.name,
}));

/** What the operations on stars call. */
interface StarServices {
  readonly hosting: { readonly projects: Pick<Projects, "star"> };
}

/** The internal id of the caller, who gives or takes a star. */
function giverOf({ caller: { principal } }: OperationCall): string {
  if (principal.kind === "guest") throw new Unauthorized("A star needs a credential");
  if (principal.id === null) throw new Forbidden("Only an account can give a star");
  return principal.id;
}

export const starProject = operation({
  http: "PUT /api/star",
  needs: "read",
  callers: "accounts",
  summary: "Star the project",
  input: z.object({}),
  done: "Starred",
}, async ({ hosting: { projects } }: StarServices, _input, call) => {
  await projects.star(call.project.slug, giverOf(call), true);
  return undefined;
});

export const unstarProject = operation({
  http: "DELETE /api/star",
  needs: "read",
  callers: "accounts",
  summary: "Remove your star",
  input: z.object({}),
  done: "Not starred by you",
}, async ({ hosting: { projects } }: StarServices, _input, call) => {
  await projects.star(call.project.slug, giverOf(call), false);
  return undefined;
});
