import type { Context, Hono } from "hono";
import type { AppEnv } from "../routes/environment.ts";
import { sameOrigin } from "../routes/middleware/browsers.ts";
import { readSession } from "../routes/middleware/session.ts";
import { once } from "../routes/once.ts";
import { Forbidden, Invalid, Unauthorized } from "../services/kernel/errors.ts";
import type { Surroundings } from "./visit.ts";

/**
 * The import and the export of a project's repository for admins who are logged in. The script of
 * the page sends the file as the body, with the CSRF token in a header: a form would have to be read
 * into memory.
 */
export function mountRepository(
  app: Hono<AppEnv>,
  { services }: Pick<Surroundings, "services">,
): void {
  const loaded = once(async () => {
    const { RepositoryAnswers } = await import("../routes/v1/project_repository.ts");
    return new RepositoryAnswers(services);
  });
  const path = "/projects/:slug/repository";
  const identify = (context: Context<AppEnv>) => {
    const session = readSession(context, services);
    if (session === null) throw new Unauthorized("Log in to do this");
    if (session.principal.kind !== "admin") throw new Forbidden("Only admins may do this");
    context.set("principal", session.principal);
    context.set("session", session);
  };
  app.get(path, async (context) => {
    identify(context);
    const format = context.req.query("format") ?? "fossil";
    if (format !== "fossil" && format !== "git") {
      throw new Invalid('"format" must be "fossil" or "git"');
    }
    return await (await loaded()).export(context, context.req.param("slug"), format);
  });
  app.put(path, sameOrigin(), async (context) => {
    identify(context);
    const prove = () => Promise.resolve(identify(context));
    return await (await loaded()).import(context, context.req.param("slug"), prove);
  });
}
