import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { Services } from "../../services/daemon/mod.ts";
import type { Action } from "../../services/identity/mod.ts";
import { accessProject } from "../../services/projects/mod.ts";
import type { AppEnv } from "../environment.ts";
import type { Exceptions } from "../middleware/access.ts";
import { type AuthenticateOptions, proveAgain } from "../middleware/authenticate.ts";

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

/** Middleware that requires a right in the project, and room for what changes it. */
export function allowInProject(action: Action, exceptions: Required<Exceptions>) {
  return createMiddleware<AppEnv>(async (context, next) => {
    const require = () => requireInProject(context, action, exceptions);
    require();
    context.set("requireAgain", require);
    await next();
  });
}

function requireInProject(
  context: Context<AppEnv>,
  action: Action,
  { whileHalted, whileFull }: Required<Exceptions>,
): void {
  const isWrite = !["GET", "HEAD"].includes(context.req.method);
  const access = context.get("access");
  access.require(action, action !== "read" && isWrite);
  if (isWrite && !whileHalted) access.halts?.requireGoing(access.principal);
  if (isWrite && !whileFull && context.req.method !== "DELETE") context.get("space").require();
}

/**
 * Creates a check for a request whose file has arrived, which may take hours: its caller may have lost
 * the credential or the right meanwhile, and the project may be archived.
 *
 * @returns a function that throws what the checks before the file throw
 */
export function confirmAgain(services: AccessServices & AuthenticateOptions) {
  const prove = proveAgain(services);
  return async (context: Context<AppEnv>): Promise<void> => {
    await prove(context);
    enterProject(context, services, context.get("access").project.slug);
    context.get("requireAgain")();
  };
}
