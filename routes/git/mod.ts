/** Projects as repositories of Git: `/projects/SLUG.git`. */
import type { Context } from "hono";
import { bodyLimitsOf } from "../../http/mod.ts";
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
  TooMany,
  Unavailable,
} from "../../services/kernel/errors.ts";
import { VERSION } from "../../services/kernel/version.ts";
import { receiveUpload } from "../../services/work/projects/mod.ts";
import { ApiRoutes } from "../api_routes.ts";
import { type AppEnv, callerOf } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { addressForPrograms } from "../middleware/pages_host.ts";
import type { errors } from "../schemas.ts";
import { specialRoute } from "../special_route.ts";
import { decompressed, readGitBody } from "./body.ts";
import {
  answeredIn,
  enter,
  type FailureForm,
  type GitServices,
  refusalsIn,
  repositoryParam,
  slugOf,
} from "./entering.ts";
import { errorPacket, FetchAnswers, joined } from "./fetch_answers.ts";
import { answerPush } from "./push_answers.ts";

/** Most bytes of a request: the names of 200,000 commits. */
const MAX_REQUEST_BYTES = 16 * 1024 * 1024;
const AGENT = `muster/${VERSION}`;
const FETCH = "git-upload-pack";
const PUSH = "git-receive-pack";

const binary = z.any().openapi({ type: "string", format: "binary" });
const params = z.object({ repository: repositoryParam });

/** Failures in text, which Git shows; its other words are numbers. */
const TEXT: FailureForm = {
  type: "text/plain; charset=utf-8",
  schema: z.string(),
  bodyOf: (sentence) => `${sentence}\n`,
};

const answered = (answer: () => Promise<Response>) => answeredIn(TEXT, answer);

const refusals = (...statuses: Parameters<typeof errors>) => refusalsIn(TEXT, ...statuses);

const getRefs = specialRoute("GET /projects/{repository}/info/refs", {
  operationId: "listGitRefs",
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
    301: { description: "An address without `.git`: the right one is in `Location`" },
    ...refusals(400, 404, 503),
  },
});

const postFetch = specialRoute("POST /projects/{repository}/git-upload-pack", {
  operationId: "fetchGit",
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
  operationId: "pushGit",
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
        if (slugOf(context) === null) return leadToGit(context, service);
        const { project } = await enter(context, services, service === PUSH ? "write" : "read");
        if (service === undefined) {
          throw new NotFound(
            "This server speaks Git's smart protocol only: use git 1.6.6 or newer",
          );
        }
        if (service === PUSH) {
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
        const access = await enter(context, services, "write");
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

/** Leads a client, which left out the end of the address, to it: `git` goes on there. */
function leadToGit(context: Context<AppEnv>, service: string | undefined): Response {
  const slug = encodeURIComponent(context.req.param("repository") ?? "");
  const query = service === undefined ? "" : `?service=${encodeURIComponent(service)}`;
  return context.redirect(`/projects/${slug}.git/info/refs${query}`, 301);
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

function send(body: BodyInit, type: string): Response {
  return new Response(body, { headers: { "Content-Type": type, "Cache-Control": "no-cache" } });
}
