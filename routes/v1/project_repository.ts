import { ApiRoutes } from "../api_routes.ts";
import { type AppEnv, callerOf } from "../environment.ts";
import { UNTRUSTED } from "../projects/content_headers.ts";
import type { Context } from "hono";
import { dirname } from "node:path";
import { z } from "../extended_zod.ts";
import { bodyLimitsOf, wantsLines } from "../../http/mod.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { originOf } from "../../services/people/identity/mod.ts";
import {
  type ProjectRepositories,
  type ProjectView,
  receiveUpload,
  viewOf,
} from "../../services/work/projects/mod.ts";
import { proveAgain } from "../middleware/authenticate.ts";
import { progressLines } from "../progress_lines.ts";
import { errors, errorSchema, json } from "../schemas.ts";
import { projectRecordSchema } from "../../services/work/projects/schemas.ts";
import { specialRoute } from "../special_route.ts";

export type RepositoryServices = Pick<
  Services,
  "hosting" | "config" | "identity" | "webSessions" | "pagesHost" | "log" | "space"
>;

const params = z.object({ slug: z.string() });

const importSchema = z.object({
  format: z.enum(["fossil", "git"]),
  checkins: z.int().openapi({ description: "Check-ins in the repository" }),
  notices: z.object({
    counts: z.record(z.string(), z.int()).openapi({ description: "The number of each kind" }),
    first: z.array(z.object({ kind: z.string(), subject: z.string(), message: z.string() }))
      .readonly().openapi({ description: "At most 200" }),
  }).optional().openapi({
    description: "What was left out: signatures, submodules, … of Git; private artifacts of Fossil",
  }),
}).openapi("RepositoryImport");

const importLineSchema = z.union([
  z.object({
    done: z.int().openapi({ description: "Commits or artifacts read" }),
    total: z.int().nullable().openapi({ description: "Null while unknown" }),
  }),
  importSchema,
  errorSchema,
]).openapi("RepositoryImportLine");

const binary = z.any().openapi({ type: "string", format: "binary" });

const exportRepository = specialRoute("GET /v1/projects/{slug}/repository", {
  operationId: "exportRepository",
  summary: "Download a project's repository",
  request: {
    params,
    query: z.object({
      format: z.enum(["fossil", "git"], { error: 'must be "fossil" or "git"' }).default("fossil")
        .openapi({ description: "A repository file of Fossil, or a stream for git fast-import" }),
    }),
  },
  responses: {
    200: {
      content: {
        "application/x-fossil": { schema: binary },
        "application/x-git-fast-export": { schema: binary },
      },
      description: "The repository",
    },
    ...errors(400, 404, 503, 504),
  },
});

const importRepository = specialRoute("PUT /v1/projects/{slug}/repository", {
  operationId: "importRepository",
  summary: "Fill a project's repository",
  description: "The body is a Fossil repository file or a stream of git fast-export, of any " +
    "length. Its artifacts are read, verified and copied.",
  request: {
    params,
    body: { content: { "application/octet-stream": { schema: binary } }, required: true },
  },
  responses: {
    200: {
      content: {
        "application/json": { schema: importSchema },
        "application/x-ndjson": { schema: importLineSchema },
      },
      description: "The result. With `Accept: application/x-ndjson`, lines of progress come " +
        "before it; a failure after the upload is then a last line with `error`",
    },
    ...errors(400, 404, 408, 409, 413, 503, 504),
  },
});

const restoreRepository = specialRoute("PUT /v1/projects/{slug}/restore", {
  operationId: "restoreRepository",
  summary: "Restore a project from a backup of its repository, if its node does not run",
  description: "The body is a repository file of Fossil, of any length, such as an export. Every " +
    "artifact is verified. The project is on the named node then.",
  request: {
    params,
    query: z.object({
      node: z.string().optional().openapi({ description: "By default, the one that answers" }),
    }),
    body: { content: { "application/octet-stream": { schema: binary } }, required: true },
  },
  responses: {
    200: json(projectRecordSchema, "Restored"),
    ...errors(400, 404, 408, 409, 413, 503, 504),
  },
});

/** Answers with a repository as a whole, or fills it with the body of a request. */
export class RepositoryAnswers {
  readonly #services: Pick<RepositoryServices, "hosting" | "config" | "log" | "space">;

  constructor(services: Pick<RepositoryServices, "hosting" | "config" | "log" | "space">) {
    this.#services = services;
  }

  /** Streams the repository of a project as a file to download. */
  async export(
    context: Context<AppEnv>,
    slug: string,
    format: "fossil" | "git",
  ): Promise<Response> {
    const { projects, repositories } = this.#services.hosting;
    const { project } = projects.require(slug);
    const [type, ending] = format === "git"
      ? ["application/x-git-fast-export", "git-fast-export"]
      : ["application/x-fossil", "fossil"];
    const headers = {
      "Content-Type": type,
      "Content-Disposition": `attachment; filename="${slug}.${ending}"`,
      ...UNTRUSTED,
    };
    if (context.req.method === "HEAD") return context.body(null, 200, headers);
    const path = await repositories.export(project, format, { signal: context.req.raw.signal });
    return context.body(await openOnce(path), 200, headers);
  }

  /**
   * Fills the empty repository of a project with the body of a request.
   *
   * @param prove called when the body has arrived, which may be long after its headers: throws if
   * the caller may not send it any more
   */
  async import(
    context: Context<AppEnv>,
    slug: string,
    prove: () => Promise<void> | null,
  ): Promise<Response> {
    const { hosting: { projects, repositories }, config, log, space } = this.#services;
    const { project } = projects.require(slug);
    const { signal } = context.req.raw;
    await repositories.requireEmpty(project);
    const { folder } = repositories.files;
    await using received = new AsyncDisposableStack();
    const upload = received.use(
      await receiveUpload(folder, context.req.raw, {
        stallMs: bodyLimitsOf(config).stallMilliseconds,
        maxBytes: config.limits.upload_bytes,
        check: () => space.require(),
      }),
    );
    await prove();
    const from = { source: upload.path, format: upload.format };
    const caller = callerOf(context);
    const origin = originOf(caller);
    if (!wantsLines(context.req.header("accept"))) {
      const imported = await repositories.import(project, from, { origin, caller, signal });
      return context.json(importAnswer(imported), 200);
    }
    const held = received.move();
    const lines = progressLines({
      log,
      requestId: context.get("requestId"),
      signal,
      async work(options) {
        await using _ = held;
        const imported = await repositories.import(project, from, { origin, caller, ...options });
        return importAnswer(imported);
      },
    });
    return new Response(lines, { headers: { "content-type": "application/x-ndjson" } });
  }
}

/** Restores a project from the body of a request. */
async function restore(
  { hosting: { repositories, restores }, config, space }: RepositoryServices,
  context: Context<AppEnv>,
  { slug, node, prove }: {
    readonly slug: string;
    readonly node: string | undefined;
    prove(): Promise<void> | null;
  },
): Promise<ProjectView> {
  const { files: { folder }, homes } = repositories;
  if (node !== undefined) homes.requireSelf(node);
  restores.requireLost(slug);
  await using upload = await receiveUpload(folder, context.req.raw, {
    stallMs: bodyLimitsOf(config).stallMilliseconds,
    maxBytes: config.limits.upload_bytes,
    check: () => space.require(),
  });
  await prove();
  return viewOf(await restores.restore(slug, upload, callerOf(context)));
}

/** `/v1/projects/{slug}/repository`: the repository of a project as a whole. */
export function repositoryRoutes(services: RepositoryServices) {
  const answers = new RepositoryAnswers(services);
  const prove = proveAgain(services);
  return new ApiRoutes()
    .openapi(exportRepository, async (context) => {
      const { slug } = context.req.valid("param");
      const { format } = context.req.valid("query");
      return await answers.export(context, slug, format) as never;
    })
    .openapi(importRepository, async (context) => {
      const { slug } = context.req.valid("param");
      return await answers.import(context, slug, () => prove(context)) as never;
    })
    .openapi(restoreRepository, async (context) => {
      const { slug } = context.req.valid("param");
      const { node } = context.req.valid("query");
      const request = { slug, node, prove: () => prove(context) };
      return context.json(await restore(services, context, request), 200);
    });
}

function importAnswer(
  { report, checkins }: Awaited<ReturnType<ProjectRepositories["import"]>>,
): z.infer<typeof importSchema> {
  const { format } = report;
  return { format, checkins, notices: report.notices };
}

/** Opens a file and deletes it with its folder at once; it stays readable while open. */
async function openOnce(path: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const file = await Deno.open(path);
  await Deno.remove(dirname(path), { recursive: true });
  return file.readable;
}
