/** Git LFS: the batch API and basic transfers (git-lfs, docs/api/batch.md and basic-transfers.md). */
import { bodyLimitsOf, BodyReader } from "../../http/mod.ts";
import { Invalid } from "../../services/kernel/errors.ts";
import { bounded } from "../../services/kernel/validation/schemas.ts";
import { lfsOidSchema } from "../../services/work/git/schemas.ts";
import { receiveUpload } from "../../services/work/projects/mod.ts";
import type { JudgedObject, LfsObject } from "../../services/work/git/mod.ts";
import { ApiRoutes } from "../api_routes.ts";
import { callerOf } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { refusalOf, statusOf } from "../middleware/errors.ts";
import { addressForPrograms } from "../middleware/pages_host.ts";
import type { errors } from "../schemas.ts";
import { bytesResponses } from "../projects/answers.ts";
import { answerLfsObject } from "../projects/lfs.ts";
import { jsonValueOf } from "../request_schemas.ts";
import { specialRoute } from "../special_route.ts";
import {
  answeredIn,
  enter,
  type FailureForm,
  type GitServices,
  refusalsIn,
  repositoryParam,
} from "./entering.ts";

const TYPE = "application/vnd.git-lfs+json";

/** Most objects of a batch. `git-lfs` sends 100. */
const MAX_OBJECTS = 1000;

/** Failures as `git-lfs` shows them. */
const JSON_TEXT: FailureForm = {
  type: TYPE,
  schema: z.object({ message: z.string() }).openapi("LfsError"),
  bodyOf: (message) => JSON.stringify({ message }),
};

const objectSchema = z.object({ oid: lfsOidSchema, size: z.int().min(0) });

const batchSchema = bounded(z.object({
  operation: z.enum(["upload", "download"]),
  transfers: z.array(z.string()).max(100).optional(),
  hash_algo: z.string().optional(),
  objects: z.array(objectSchema).max(MAX_OBJECTS),
}));

const actionSchema = z.object({
  href: z.string(),
  header: z.record(z.string(), z.string()).optional().openapi({
    description: "The credential of the request, which `git-lfs` would else send after a refusal",
  }),
});

const answerSchema = z.object({
  transfer: z.literal("basic"),
  hash_algo: z.literal("sha256"),
  objects: z.array(objectSchema.extend({
    actions: z.object({
      upload: actionSchema.optional(),
      verify: actionSchema.optional(),
      download: actionSchema.optional(),
    }).optional(),
    error: z.object({ code: z.int(), message: z.string() }).optional(),
  })).readonly(),
});

type Action = z.output<typeof actionSchema>;
type LfsAnswer = z.output<typeof answerSchema>;
type AnsweredObject = LfsAnswer["objects"][number];

const refusals = (...statuses: Parameters<typeof errors>) => refusalsIn(JSON_TEXT, ...statuses);

function lfsJson(schema: z.ZodType) {
  return { content: { [TYPE]: { schema } } };
}

const postBatch = specialRoute("POST /projects/{repository}/info/lfs/objects/batch", {
  operationId: "batchLfsObjects",
  summary: "Where `git lfs` gets and puts the content of objects",
  request: {
    params: z.object({ repository: repositoryParam }),
    body: { ...lfsJson(batchSchema), required: true },
  },
  responses: {
    200: { ...lfsJson(answerSchema), description: "The addresses, or why there is none" },
    ...refusals(400, 404, 408, 409, 413, 503),
  },
});

/** Its handlers check the oid: a credential that is none is told first. */
const objectParams = z.object({
  repository: repositoryParam,
  oid: z.string().openapi({ description: "The SHA-256 of the content", example: "0".repeat(64) }),
});

/** @throws Invalid if it is no SHA-256 */
function requireOid(text: string): string {
  if (!lfsOidSchema.safeParse(text).success) {
    throw new Invalid("The name of an object is a SHA-256 in hexadecimal");
  }
  return text;
}

const getObject = specialRoute("GET /projects/{repository}/info/lfs/objects/{oid}", {
  operationId: "getLfsObject",
  summary: "The content of a Git LFS object",
  description: "Supports `Range`, `If-Range` and `If-None-Match`.",
  request: { params: objectParams },
  responses: { ...bytesResponses, ...refusals(400, 404, 503) },
});

const putObject = specialRoute("PUT /projects/{repository}/info/lfs/objects/{oid}", {
  operationId: "putLfsObject",
  summary: "Upload the content of a Git LFS object",
  request: {
    params: objectParams,
    body: {
      content: {
        "application/octet-stream": {
          schema: z.any().openapi({ type: "string", format: "binary" }),
        },
      },
      required: true,
    },
  },
  responses: {
    200: { description: "The content is stored" },
    ...refusals(400, 404, 408, 409, 413, 429, 503),
  },
});

const postVerify = specialRoute("POST /projects/{repository}/info/lfs/verify", {
  operationId: "verifyLfsObject",
  summary: "Check that the content of a Git LFS object is stored",
  request: {
    params: z.object({ repository: repositoryParam }),
    body: { ...lfsJson(objectSchema), required: true },
  },
  responses: {
    200: { description: "It is, with this size" },
    ...refusals(400, 404, 408, 409, 413, 503),
  },
});

/** The routes below `/projects/SLUG.git/info/lfs`. */
export function lfsRoutes(services: GitServices) {
  const { hosting: { lfs, repositories }, config } = services;
  const limits = bodyLimitsOf(config);
  const bodies = new BodyReader(limits);
  const answered = (answer: () => Promise<Response>) => answeredIn(JSON_TEXT, answer) as never;
  const read = async <Schema extends z.ZodType>(request: Request, schema: Schema) => {
    const { success, data, error } = schema.safeParse(jsonValueOf(await bodies.read(request)));
    if (success) return data;
    throw new Invalid(refusalOf(error, "json"));
  };
  return new ApiRoutes()
    .openapi(postBatch, (context) =>
      answered(async () => {
        const access = await enter(context, services);
        const { operation, transfers = ["basic"], hash_algo = "sha256", objects } = await read(
          context.req.raw,
          batchSchema,
        );
        if (!transfers.includes("basic")) throw new Invalid("This server has basic transfers only");
        if (hash_algo !== "sha256") throw new Invalid("This server names objects by SHA-256");
        const { project } = access;
        const address = `${addressForPrograms(context, services)}/projects/${project.slug}.git`;
        const authorization = context.req.header("authorization");
        const actionAt = (place: string): Action => {
          const href = `${address}/info/lfs/${place}`;
          return authorization === undefined ? { href } : { href, header: { authorization } };
        };
        if (operation === "upload") {
          access.require("write");
          context.get("space").require();
        }
        const answer: readonly AnsweredObject[] = operation === "upload"
          ? (await lfs.judge(project, callerOf(context), objects))
            .map((object) => uploadOf(object, actionAt))
          : objects.map(
            downloadOf(await lfs.find(project, objects.map(({ oid }) => oid)), actionAt),
          );
        return lfsAnswer({ transfer: "basic", objects: answer, hash_algo: "sha256" });
      }))
    .openapi(getObject, (context) =>
      answered(async () => {
        const { project } = await enter(context, services);
        const oid = requireOid(context.req.valid("param").oid);
        return await answerLfsObject(context, lfs, { project, oid, name: oid });
      }))
    .openapi(putObject, (context) =>
      answered(async () => {
        const { project } = await enter(context, services, "write");
        const { raw } = context.req;
        const declared = raw.headers.get("content-length");
        await lfs.put(project, {
          oid: requireOid(context.req.valid("param").oid),
          caller: callerOf(context),
          length: declared === null ? null : Number(declared),
          signal: raw.signal,
          receive: ({ maxBytes, check }) =>
            receiveUpload(repositories.files.folder, raw, {
              maxBytes,
              stallMs: limits.stallMilliseconds,
              check: (bytes, part) => {
                context.get("space").require();
                check?.(bytes, part);
              },
            }),
        });
        return new Response(null);
      }))
    .openapi(postVerify, (context) =>
      answered(async () => {
        const { project } = await enter(context, services);
        const { oid, size } = await read(context.req.raw, objectSchema);
        const stored = await lfs.require(project, oid);
        if (stored.size !== size) throw new Invalid(`The object has ${stored.size} bytes`);
        return new Response(null);
      }));
}

function uploadOf(
  { oid, size, isHere, refusal }: JudgedObject,
  actionAt: (place: string) => Action,
): AnsweredObject {
  const object = { oid, size };
  if (refusal !== null) {
    return { ...object, error: { code: statusOf(refusal), message: refusal.message } };
  }
  if (isHere) return object;
  return { ...object, actions: { upload: actionAt(`objects/${oid}`), verify: actionAt("verify") } };
}

function downloadOf(
  stored: ReadonlyMap<string, unknown>,
  actionAt: (place: string) => Action,
): (object: LfsObject) => AnsweredObject {
  return ({ oid, size }) =>
    stored.has(oid)
      ? { oid, size, actions: { download: actionAt(`objects/${oid}`) } }
      : { oid, size, error: { code: 404, message: "Its content is not on this server" } };
}

function lfsAnswer(body: LfsAnswer): Response {
  return new Response(JSON.stringify(body), { headers: { "Content-Type": TYPE } });
}
