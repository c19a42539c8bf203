import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { Forbidden } from "../../services/kernel/errors.ts";
import type { Action } from "../../services/people/identity/mod.ts";
import {
  accessProject,
  type ProjectAccess,
  requireCall,
} from "../../services/work/projects/mod.ts";
import type { Exceptions } from "../access.ts";
import type { AppEnv } from "../environment.ts";

/** Who may do what in which project. */
export type AccessServices = Pick<Services, "hosting">;

/**
 * Finds the project of a request, and what its caller may do there now.
 *
 * @param slug by default, that of the request's path; one from inside this process has none
 * @throws NotFound if there is no such project for the caller; Misplaced if another node has it
 */
export function enterProject(
  context: Context<AppEnv>,
  { hosting }: AccessServices,
  slug = context.req.param("slug") ?? "",
): void {
  const { projects, repositories: { homes } } = hosting;
  const access = accessProject(projects, slug, context.get("principal"));
  homes.require(access.project);
  context.set("access", access);
}

/**
 * Creates what looks once more what a caller may do in the project of its request.
 *
 * @throws NotFound; Forbidden if the caller was an admin and is none now
 */
export function enterProjectAgain(services: AccessServices): (context: Context<AppEnv>) => void {
  return (context) => {
    const { project: { slug }, isAdmin } = context.get("access");
    enterProject(context, services, slug);
    requireStillAdmin(isAdmin, context.get("access"));
  };
}

/**
 * Refuses a request that was judged as an admin's if its caller has ceased to be one.
 *
 * @throws Forbidden
 */
export function requireStillAdmin(wasAdmin: boolean, now: ProjectAccess): void {
  if (!wasAdmin || now.isAdmin) return;
  throw new Forbidden("Your role in the project has just changed: send the request again");
}

/** Middleware that requires a right in the project, and room for what changes it. */
export function allowInProject(action: Action, exceptions: Required<Exceptions>) {
  const require = (context: Context<AppEnv>) => requireInProject(context, action, exceptions);
  return createMiddleware<AppEnv>(async (context, next) => {
    require(context);
    context.set("requireAgain", require);
    await next();
  });
}

function requireInProject(
  context: Context<AppEnv>,
  needs: Action,
  exceptions: Required<Exceptions>,
): void {
  const { method } = context.req;
  requireCall({ method, needs, ...exceptions }, context.get("access"), context.get("space"));
}
