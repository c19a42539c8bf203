/**
 * What `actions/upload-artifact` and `download-artifact`, version 3, call, below
 * `/api/actions_pipeline/`.
 */
import type { Context, MiddlewareHandler } from "hono";
import { bodyLimitsOf, BodyReader, readAuthorization } from "../../http/mod.ts";
import { Invalid, Unauthorized } from "../../services/kernel/errors.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import type { Lease } from "../../services/work/runners/mod.ts";
import type { PartRange } from "../../services/work/runs/mod.ts";
import { ApiRoutes } from "../api_routes.ts";
import type { AppEnv } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { jsonBody } from "../middleware/body.ts";
import { addressForPrograms } from "../middleware/pages_host.ts";
import { errors, json, jsonRequest } from "../schemas.ts";
import { specialRoute } from "../special_route.ts";

const ROOT = "/api/actions_pipeline";

const params = z.object({ run: z.string().max(30) });
const version = { "api-version": z.string().max(30).optional() };
const name = z.string().min(1).max(200).regex(/^[^/\\]+$/, { error: "must be a name without /" });
const itemPath = z.string().min(1).max(500);
const binary = z.any().openapi({ type: "string", format: "binary" });

const artifactSchema = z.object({
  containerId: z.int(),
  size: z.int(),
  signedContent: z.string(),
  fileContainerResourceUrl: z.string(),
  type: z.string(),
  name: z.string(),
  url: z.string(),
}).openapi("WorkflowArtifact");

const itemSchema = z.object({
  containerId: z.int(),
  path: z.string(),
  itemType: z.enum(["file"]),
  status: z.string(),
  fileLength: z.int(),
  contentLocation: z.string(),
});

const OF_JOBS = "Takes the token of a job that runs, as `Bearer`";

const list = specialRoute("GET /api/actions_pipeline/_apis/pipelines/workflows/{run}/artifacts", {
  operationId: "listWorkflowArtifacts",
  summary: "The artifacts of the run of a job",
  description: OF_JOBS,
  request: { params, query: z.object({ ...version, artifactName: name.optional() }) },
  responses: {
    200: json(z.object({ count: z.int(), value: z.array(artifactSchema) }), "By name"),
    ...errors(400, 401, 403, 409),
  },
});

/** @param readJson reads the body */
const create = (readJson: MiddlewareHandler<AppEnv>) =>
  specialRoute(
    "POST /api/actions_pipeline/_apis/pipelines/workflows/{run}/artifacts",
    {
      operationId: "createWorkflowArtifact",
      summary: "Say where the files of an artifact go",
      description: OF_JOBS,
      request: {
        params,
        query: z.object(version),
        body: jsonRequest(z.looseObject({ Name: name }), { Type: "actions_storage", Name: "site" }),
      },
      responses: {
        201: json(artifactSchema, "Its files go to `fileContainerResourceUrl`"),
        ...errors(400, 401, 403, 409),
      },
    },
    readJson,
  );

/** @param readJson reads the body */
const finish = (readJson: MiddlewareHandler<AppEnv>) =>
  specialRoute(
    "PATCH /api/actions_pipeline/_apis/pipelines/workflows/{run}/artifacts",
    {
      operationId: "finishWorkflowArtifact",
      summary: "Say that all files of an artifact are there",
      description: OF_JOBS,
      request: {
        params,
        query: z.object({ ...version, artifactName: name }),
        body: jsonRequest(z.looseObject({}), { Size: 0 }),
      },
      responses: { 200: json(artifactSchema, "The artifact"), ...errors(400, 401, 403, 409) },
    },
    readJson,
  );

const put = specialRoute("PUT /api/actions_pipeline/files", {
  operationId: "putWorkflowFile",
  summary: "Keep a file of an artifact, or a part of it",
  description: `${OF_JOBS}. \`Content-Range\` says which part it is.`,
  request: {
    query: z.object({ itemPath, ...version }),
    body: { content: { "application/octet-stream": { schema: binary } }, required: true },
  },
  responses: {
    200: json(z.object({}), "It is kept"),
    ...errors(400, 401, 403, 408, 409, 413, 503),
  },
});

const items = specialRoute("GET /api/actions_pipeline/files", {
  operationId: "listWorkflowFiles",
  summary: "The files of an artifact",
  description: OF_JOBS,
  request: { query: z.object({ itemPath: name, ...version }) },
  responses: {
    200: json(z.object({ count: z.int(), value: z.array(itemSchema) }), "By path"),
    ...errors(400, 401, 403, 409),
  },
});

const get = specialRoute("GET /api/actions_pipeline/file", {
  operationId: "getWorkflowFile",
  summary: "The content of a file of an artifact",
  description: OF_JOBS,
  request: { query: z.object({ path: itemPath }) },
  responses: {
    200: {
      content: { "application/octet-stream": { schema: binary } },
      description: "The content",
    },
    ...errors(400, 401, 403, 404, 409),
  },
});

/** The routes below `/api/actions_pipeline/`. */
export function artifactRoutes(
  services: Pick<Services, "hosting" | "config" | "identity" | "pagesHost">,
) {
  const { hosting: { workflowArtifacts }, config, identity } = services;
  const { stallMilliseconds: stallMs } = bodyLimitsOf(config);
  const reader = new BodyReader(bodyLimitsOf(config));
  const readJson = jsonBody({ readerFor: () => reader });
  const leaseOf = async (context: Context<AppEnv>): Promise<Lease> => {
    const credential = readAuthorization(context.req.header("authorization"));
    if (credential === null) throw new Unauthorized(OF_JOBS);
    const principal = await identity.authenticate(credential, context.get("address"));
    context.set("principal", principal);
    return workflowArtifacts.leaseOf(principal);
  };
  const artifactOf = (context: Context<AppEnv>, name: string, size: number) => {
    const server = addressForPrograms(context, services);
    const run = encodeURIComponent(context.req.param("run") ?? "");
    return {
      containerId: 1,
      size,
      signedContent: "",
      fileContainerResourceUrl: `${server}${ROOT}/files`,
      type: "actions_storage",
      name,
      url: `${server}${ROOT}/_apis/pipelines/workflows/${run}/artifacts`,
    };
  };
  return new ApiRoutes()
    .openapi(list, async (context) => {
      const { artifactName } = context.req.valid("query");
      const files = await workflowArtifacts.list(await leaseOf(context));
      const byName = Map.groupBy(files, ({ path }) => path.slice(0, path.indexOf("/")));
      const value = Array.from(
        byName,
        ([name, own]) => artifactOf(context, name, own.reduce((sum, { bytes }) => sum + bytes, 0)),
      )
        .filter(({ name }) => artifactName === undefined || name === artifactName);
      return context.json({ count: value.length, value }, 200);
    })
    .openapi(create(readJson), async (context) => {
      await leaseOf(context);
      return context.json(artifactOf(context, context.req.valid("json").Name, -1), 201);
    })
    .openapi(finish(readJson), async (context) => {
      await leaseOf(context);
      return context.json(artifactOf(context, context.req.valid("query").artifactName, -1), 200);
    })
    .openapi(put, async (context) => {
      const lease = await leaseOf(context);
      const path = context.req.valid("query").itemPath.replaceAll("\\", "/");
      if (!path.includes("/")) throw new Invalid("itemPath must be ARTIFACT/PATH");
      await workflowArtifacts.receive(lease, path, {
        body: context.req.raw,
        range: rangeOf(context.req.header("content-range")),
        isCompressed: context.req.header("content-encoding") === "gzip",
        stallMs,
      });
      return context.json({}, 200);
    })
    .openapi(items, async (context) => {
      const { itemPath: name } = context.req.valid("query");
      const files = await workflowArtifacts.list(await leaseOf(context));
      const server = addressForPrograms(context, services);
      const value = files.filter(({ path }) => path.startsWith(`${name}/`))
        .map(({ path, bytes }) => ({
          containerId: 1,
          path,
          itemType: "file" as const,
          status: "created",
          fileLength: bytes,
          contentLocation: `${server}${ROOT}/file?path=${encodeURIComponent(path)}`,
        }));
      return context.json({ count: value.length, value }, 200);
    })
    .openapi(get, async (context) => {
      const { path } = context.req.valid("query");
      const { file, bytes } = await workflowArtifacts.open(await leaseOf(context), path);
      return new Response(file.readable, {
        headers: {
          "Content-Type": "application/octet-stream",
          "Content-Length": String(bytes),
          "Cache-Control": "no-store",
        },
      });
    });
}

/** @throws Invalid if a range is malformed */
function rangeOf(header: string | undefined): PartRange | null {
  // The second is how the client says that a file is empty.
  if (header === undefined || header === "bytes 0--1/0") return null;
  const [, start, end, total] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(header) ?? [];
  if (total === undefined) throw new Invalid("Content-Range must be bytes START-END/TOTAL");
  return { start: Number(start), end: Number(end), total: Number(total) };
}
