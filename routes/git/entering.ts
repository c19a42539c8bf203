/** Who asks what of which project, below `/projects/SLUG.git`. */
import type { Context } from "hono";
import { readAuthorization } from "../../http/mod.ts";
import { GitError } from "../../services/engines/git/mod.ts";
import {
  NotFound,
  ServiceError,
  TooMany,
  Unauthorized,
  Unavailable,
} from "../../services/kernel/errors.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { GUEST, type Principal } from "../../services/people/identity/mod.ts";
import { accessProject, type ProjectAccess } from "../../services/work/projects/mod.ts";
import type { AppEnv } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { statusOf } from "../middleware/errors.ts";
import { errors } from "../schemas.ts";

const SUFFIX = ".git";

export type GitServices = Pick<Services, "hosting" | "config" | "identity" | "pagesHost">;

/** The part of a path that names a project. */
export const repositoryParam = z.string().openapi({
  description: "The slug, and `.git`",
  example: "demo.git",
});

/**
 * Finds the project of a request, and who sends it; `confirm` of its caller does so once more.
 *
 * @param right what the sender wants to do there
 * @throws Unauthorized if a guest may not see it, whether or not it exists; NotFound; Forbidden
 */
export async function enter(
  context: Context<AppEnv>,
  { hosting, identity }: GitServices,
  right: "read" | "write" = "read",
): Promise<ProjectAccess> {
  const slug = slugOf(context) ?? "";
  await identify(context, { hosting, identity }, slug);
  const look = () => {
    const principal = context.get("principal");
    try {
      const access = accessProject(hosting.projects, slug, principal);
      access.require("read");
      hosting.repositories.homes.require(access.project);
      access.require(right);
      return access;
    } catch (error) {
      if (principal.kind !== "guest" || !(error instanceof NotFound)) throw error;
      throw new Unauthorized("This needs a name and a passphrase, or a token in its place");
    }
  };
  context.set("enterAgain", look);
  return look();
}

/** The slug that an address names before `.git`; null if it does not end so. */
export function slugOf(context: Context<AppEnv>): string | null {
  const repository = context.req.param("repository") ?? "";
  return repository.endsWith(SUFFIX) ? repository.slice(0, -SUFFIX.length) : null;
}

/**
 * Finds who sends a request, and lets that be proved once more.
 *
 * @throws Unauthorized if its credential is none
 */
export async function identify(
  context: Context<AppEnv>,
  { hosting, identity }: Pick<GitServices, "hosting" | "identity">,
  slug: string | null,
): Promise<Principal> {
  const { endings } = identity;
  const credential = readAuthorization(context.req.header("authorization"));
  const projectId = slug === null ? null : hosting.projects.find(slug)?.project.id ?? null;
  const principal = credential === null
    ? GUEST
    : await identity.authenticateFor(projectId, credential, context.get("address"));
  context.set("principal", principal);
  context.set("prove", async () => {
    if (identity.endings !== endings) await identify(context, { hosting, identity }, slug);
  });
  context.env.trust?.(principal);
  return principal;
}

/** The words of a failure, and their type. */
export interface FailureForm {
  readonly type: string;
  readonly schema: z.ZodType;
  bodyOf(sentence: string): string;
}

/** Errors of {@linkcode answeredIn}, and of what comes before it. */
export function refusalsIn({ type, schema }: FailureForm, ...statuses: Parameters<typeof errors>) {
  const [media = type] = type.split(";");
  const all = Object.entries(errors(...statuses)).map(([status, { description, content }]) => [
    status,
    { description, content: { ...content, [media]: { schema } } },
  ]);
  return Object.fromEntries(all);
}

/** Answers failures in the form that a client shows. */
export async function answeredIn(
  { type, bodyOf }: FailureForm,
  answer: () => Promise<Response>,
): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    const isKnown = error instanceof ServiceError || error instanceof GitError;
    if (!isKnown) throw error;
    const headers = new Headers({ "Content-Type": type });
    if (error instanceof Unauthorized) headers.set("WWW-Authenticate", 'Basic realm="muster"');
    const seconds = error instanceof TooMany || error instanceof Unavailable
      ? error.retryAfterSeconds
      : undefined;
    if (seconds !== undefined) headers.set("Retry-After", String(seconds));
    const status = error instanceof ServiceError ? statusOf(error) : 400;
    return new Response(bodyOf(error.message), { status, headers });
  }
}
