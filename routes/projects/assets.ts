import { ApiRoutes } from "../api_routes.ts";
import { callerOf, confirm } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { bodyLimitsOf } from "../../http/mod.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { actorOf, receiveUpload } from "../../services/work/projects/mod.ts";
import { fileOf, noSuchAsset } from "../../services/work/releases/mod.ts";
import { assetNameSchema, assetSchema } from "../../services/work/releases/schemas.ts";
import { json } from "../schemas.ts";
import { answerFile } from "./file_answers.ts";
import { bytesResponses } from "./answers.ts";
import { projectErrors } from "./route.ts";
import { specialRoute } from "../special_route.ts";

const assetParams = z.object({ tag: z.string(), file: assetNameSchema });
const binary = z.any().openapi({ type: "string", format: "binary" });

const getAsset = specialRoute("GET /api/releases/{tag}/assets/{file}", {
  operationId: "getReleaseAsset",
  summary: "The bytes of a release's file",
  description:
    "Supports `Range`, `If-Range`, and `If-None-Match` with the entity tag, which is the file's hash.",
  request: { params: assetParams },
  responses: { ...bytesResponses, ...projectErrors(400) },
});

const putAsset = specialRoute("PUT /api/releases/{tag}/assets/{file}", {
  operationId: "putReleaseAsset",
  summary: "Upload a file of a release; replaces one with the same name",
  description:
    "The body is the file: at most `limits.upload_bytes`, and at most 256 MiB. To be able " +
    "to continue after a broken connection, begin with `POST …/assets`.",
  request: {
    params: assetParams,
    body: { content: { "application/octet-stream": { schema: binary } }, required: true },
  },
  responses: {
    200: json(assetSchema, "Replaced the file with the same name"),
    201: json(assetSchema, "The file"),
    ...projectErrors(400, 408, 409, 413),
  },
});

type AssetServices = Pick<
  Services,
  "hosting" | "accounts" | "config" | "identity" | "webSessions" | "pagesHost"
>;

/** The files of releases: bytes, which are no operations. */
export function assetRoutes(services: AssetServices) {
  const { hosting: { releases, repositories, uploads }, accounts, config } = services;
  const { stallMilliseconds } = bodyLimitsOf(config);
  return new ApiRoutes()
    .openapi(getAsset, async (context) => {
      const { project } = context.get("access");
      const { tag, file } = context.req.valid("param");
      const { assets } = await releases.find(project, tag, {
        withDrafts: context.get("access").may("write"),
      });
      const asset = assets.find(({ name }) => name === file);
      if (asset === undefined) throw noSuchAsset(file);
      const name = fileOf(tag, file);
      return await answerFile(context, asset, {
        open: () => repositories.downloads.open(project, { name, uuid: asset.uuid }),
        onWhole: () => releases.files.noteDownload(project, tag, file),
      });
    })
    .openapi(putAsset, async (context) => {
      const { project } = context.get("access");
      const { tag, file } = context.req.valid("param");
      await releases.files.requireRoom(project, tag, file);
      await using upload = await receiveUpload(repositories.files.folder, context.req.raw, {
        stallMs: stallMilliseconds,
        maxBytes: uploads.maxBytes,
        check: () => context.get("space").require(),
      });
      await confirm(context);
      const { asset, isNew } = await releases.files.put(project, tag, {
        name: file,
        source: upload.path,
        contentType: context.req.header("content-type") ?? null,
      }, {
        caller: callerOf(context),
        actor: actorOf(context.get("access"), undefined, accounts),
      });
      return context.json(asset, isNew ? 201 : 200);
    });
}
