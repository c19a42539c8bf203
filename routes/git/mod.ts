/** Projects as repositories of Git: `/projects/SLUG.git`. */
import type { Context } from "hono";
import { bodyLimitsOf, readAuthorization } from "../../http/mod.ts";
import {
  advertiseRefs,
  advertiseToPusher,
  capabilitiesOf,
  GitError,
  oldCapabilitiesOf,
  type PushHead,
} from "../../services/engines/git/mod.ts";
import {
  Forbidden,
  Invalid,
  NotFound,
  ServiceError,
  TooMany,
  Unauthorized,
  Unavailable,
} from "../../services/kernel/errors.ts";
import { VERSION } from "../../services/kernel/version.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { GUEST, type Principal } from "../../services/people/identity/mod.ts";
import {
  accessProject,
  type ProjectAccess,
  receiveUpload,
} from "../../services/work/projects/mod.ts";
import { ApiRoutes } from "../api_routes.ts";
import { type AppEnv, callerOf } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { statusOf } from "../middleware/errors.ts";
import { addressForPrograms } from "../middleware/pages_host.ts";
import { errors } from "../schemas.ts";
import { gitAddress } from "../projects/frame.ts";
import { specialRoute } from "../special_route.ts";
import { decompressed, readGitBody } from "./body.ts";
import { errorPacket, FetchAnswers, joined } from "./fetch_answers.ts";
import { answerPush } from "./push_answers.ts";

/** Most bytes of a request: the names of 200,000 commits. */
const MAX_REQUEST_BYTES = 16 * 1024 * 1024;
const AGENT = `muster/${VERSION}`;
const FETCH = "git-upload-pack";
const PUSH = "git-receive-pack";
const SUFFIX = ".git";

const binary = z.any().openapi({ type: "string", format: "binary" });
const params = z.object({
  repository: z.string().openapi({ description: "The slug, and `.git`", example: "demo.git" }),
});

/** Errors of {@linkcode answered}, which `git` shows, and of what comes before it. */
function refusals(...statuses: Parameters<typeof errors>) {
  const both = Object.entries(errors(...statuses)).map(([status, { description, content }]) => [
    status,
    { description, content: { ...content, "text/plain": { schema: z.string() } } },
  ]);
  return Object.fromEntries(both);
}

const getRefs = specialRoute("GET /projects/{repository}/info/refs", {
  summary: "What `git clone`, `fetch` and `push` ask first",
  description: "The URL to give to `git` is `/projects/{slug}.git`. The header `Git-Protocol` " +
    "chooses the version: 2, or 0 for old clients.",
  request: {
    params,
    query: z.object({
      service: z.string().optional().openapi({ description: `${FETCH} or ${PUSH}` }),
    }),
  },
  responses: {
    200: {
      content: { [`application/x-${FETCH}-advertisement`]: { schema: binary } },
      description: "The references, or what the server can do",
    },
    ...refusals(400, 404, 503),
  },
});

const postFetch = specialRoute("POST /projects/{repository}/git-upload-pack", {
  summary: "Send objects to `git clone` and `git fetch`",
  request: {
    params,
    body: { content: { [`application/x-${FETCH}-request`]: { schema: binary } }, required: true },
  },
  responses: {
    200: {
      content: { [`application/x-${FETCH}-result`]: { schema: binary } },
      description: "The answer in Git's protocol",
    },
    ...refusals(400, 404, 408, 413, 429, 503),
  },
});

const postPush = specialRoute("POST /projects/{repository}/git-receive-pack", {
  summary: "Receive what `git push` sends",
  request: {
    params,
    body: { content: { [`application/x-${PUSH}-request`]: { schema: binary } }, required: true },
  },
  responses: {
    200: {
      content: { [`application/x-${PUSH}-result`]: { schema: binary } },
      description: "What became of each reference, in Git's protocol",
    },
    ...refusals(400, 404, 408, 409, 413, 429, 503),
  },
});

type GitServices = Pick<Services, "hosting" | "config" | "identity" | "pagesHost">;

/** The routes below `/projects/SLUG.git`. */
export function gitRoutes(services: GitServices) {
  const { hosting, config } = services;
  const { limits } = config;
  const answers = new FetchAnswers(hosting.git);
  const { stallMilliseconds: stallMs } = bodyLimitsOf(config);
  return new ApiRoutes()
    .openapi(getRefs, (context) =>
      answered(async () => {
        const { service } = context.req.valid("query");
        if (slugOf(context) === null) {
          await identify(context, services, null);
          throw new NotFound(gitAddress(context, services));
        }
        const access = await enter(context, services);
        const { project } = access;
        if (service === undefined) {
          throw new NotFound(
            "This server speaks Git's smart protocol only: use git 1.6.6 or newer",
          );
        }
        if (service === PUSH) {
          access.require("write");
          const { refs } = await hosting.git.refs(project);
          const body = joined(advertiseToPusher(refs, AGENT));
          return send(body, `application/x-${PUSH}-advertisement`);
        }
        if (service !== FETCH) throw new Forbidden(`There is no service "${service.slice(0, 50)}"`);
        // Of what fails here, Git shows the sentence; of a later request, the status alone.
        const refs = await hosting.git.refs(project);
        const body = isNew(context)
          ? capabilitiesOf(AGENT)
          : advertiseRefs(refs, { service: FETCH, capabilities: oldCapabilitiesOf(AGENT) });
        return send(joined(body), `application/x-${FETCH}-advertisement`);
      }) as never)
    .openapi(postFetch, (context) =>
      answered(async () => {
        const { project } = await enter(context, services);
        const { raw } = context.req;
        requireType(raw.headers, FETCH);
        const message = await readGitBody(raw, { maxBytes: MAX_REQUEST_BYTES, stallMs });
        const call = {
          project,
          caller: { principal: context.get("principal"), address: context.get("address") },
          signal: raw.signal,
        };
        const result = `application/x-${FETCH}-result`;
        try {
          const answer = isNew(context)
            ? await answers.command(message, call)
            : await answers.old(message, call);
          return send(answer, result);
        } catch (error) {
          // Git shows this sentence; of another status it shows the number alone.
          const isShown = error instanceof GitError || error instanceof NotFound ||
            error instanceof Invalid || error instanceof Unavailable || error instanceof TooMany;
          if (!isShown) throw error;
          return send(errorPacket(error.message), result);
        }
      }) as never)
    .openapi(postPush, (context) =>
      answered(async () => {
        const access = await enter(context, services);
        access.require("write");
        const { raw } = context.req;
        requireType(raw.headers, PUSH);
        const { folder } = hosting.repositories.files;
        let head: PushHead | null = null;
        const outcome = hosting.gitPushes.receive(access, {
          slug: access.project.slug,
          caller: callerOf(context),
          site: addressForPrograms(context, services),
          signal: raw.signal,
          onHead: (read) => head = read,
          receive: (check) => {
            const sent = { body: decompressed(raw), headers: new Headers() };
            const bounds = { stallMs, maxBytes: limits.sync_bytes, check, drains: true };
            return receiveUpload(folder, sent, bounds);
          },
        });
        return send(await answerPush(outcome, () => head), `application/x-${PUSH}-result`);
      }) as never);
}

/** @throws Invalid if a body is not a request to a service */
function requireType(headers: Headers, service: string): void {
  const type = `application/x-${service}-request`;
  if (headers.get("content-type") !== type) throw new Invalid(`This takes bodies of type ${type}`);
}

/** Whether a client speaks version 2. */
function isNew(context: Context<AppEnv>): boolean {
  const versions = context.req.header("git-protocol")?.split(":") ?? [];
  return versions.includes("version=2");
}

/**
 * Finds the project of a request, and who sends it.
 *
 * @throws Unauthorized if a guest may not see it, whether or not it exists; NotFound
 */
async function enter(
  context: Context<AppEnv>,
  { hosting, identity }: GitServices,
): Promise<ProjectAccess> {
  const slug = slugOf(context) ?? "";
  const principal = await identify(context, { hosting, identity }, slug);
  try {
    const access = accessProject(hosting.projects, slug, principal);
    access.require("read");
    hosting.repositories.homes.require(access.project);
    return access;
  } catch (error) {
    if (principal.kind !== "guest" || !(error instanceof NotFound)) throw error;
    throw new Unauthorized("This needs a name and a passphrase, or a token in its place");
  }
}

/** The slug that an address names before `.git`; null if it does not end so. */
function slugOf(context: Context<AppEnv>): string | null {
  const repository = context.req.param("repository") ?? "";
  return repository.endsWith(SUFFIX) ? repository.slice(0, -SUFFIX.length) : null;
}

/**
 * Finds who sends a request.
 *
 * @throws Unauthorized if its credential is none
 */
async function identify(
  context: Context<AppEnv>,
  { hosting, identity }: Pick<GitServices, "hosting" | "identity">,
  slug: string | null,
): Promise<Principal> {
  const credential = readAuthorization(context.req.header("authorization"));
  const projectId = slug === null ? null : hosting.projects.find(slug)?.project.id ?? null;
  const principal = credential === null
    ? GUEST
    : await identity.authenticateFor(projectId, credential, context.get("address"));
  context.set("principal", principal);
  context.env.trust?.(principal);
  return principal;
}

function send(body: BodyInit, type: string): Response {
  return new Response(body, { headers: { "Content-Type": type, "Cache-Control": "no-cache" } });
}

/** Answers failures in text, which Git shows; its other words are numbers. */
async function answered(answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    const isKnown = error instanceof ServiceError || error instanceof GitError;
    if (!isKnown) throw error;
    const headers = new Headers({ "Content-Type": "text/plain; charset=utf-8" });
    if (error instanceof Unauthorized) headers.set("WWW-Authenticate", 'Basic realm="muster"');
    const seconds = error instanceof TooMany || error instanceof Unavailable
      ? error.retryAfterSeconds
      : undefined;
    if (seconds !== undefined) headers.set("Retry-After", String(seconds));
    const status = error instanceof ServiceError ? statusOf(error) : 400;
    return new Response(`${error.message}\n`, { status, headers });
  }
}
