import { htmlParameter, htmlSchema } from "../../services/projects/schemas.ts";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { z } from "../extended_zod.ts";
import { bodyLimitsOf } from "../../http/mod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { actorOf, receiveUpload } from "../../services/projects/mod.ts";
import { fileOf, noSuchAsset, type Release } from "../../services/releases/mod.ts";
import {
  assetNameSchema,
  newReleaseSchema,
  releaseChangeSchema,
} from "../../services/releases/schemas.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import { callerOf, confirm } from "../caller.ts";
import { writeArray } from "../../services/kernel/pieces.ts";
import { jsonText } from "../json_text.ts";
import { json, jsonRequest } from "../schemas.ts";
import { answerFile } from "./file_answers.ts";
import { bytesResponses } from "./files.ts";
import { projectErrors, projectRoute } from "./route.ts";

const assetSchema = z.object({
  name: z.string(),
  file_size_bytes: z.int(),
  content_type: z.string(),
  download_count: z.int(),
  uuid: z.string().openapi({ description: "The hash of the content" }),
}).openapi("ReleaseAsset");

export const releaseSchema = z.object({
  tag_name: z.string(),
  name: z.string(),
  body: z.string().openapi({ description: "Notes, in Markdown" }),
  body_html: htmlSchema,
  is_prerelease: z.boolean(),
  is_draft: z.boolean(),
  author: z.string(),
  created_at: z.iso.datetime(),
  published_at: z.iso.datetime().nullable(),
  checkin_uuid: z.string(),
  assets: z.array(assetSchema).readonly(),
}).openapi("Release");

export const releaseListSchema = z.object({ releases: z.array(releaseSchema) });

const params = z.object({ tag: z.string() });
const assetParams = params.extend({ file: assetNameSchema });
const binary = z.any().openapi({ type: "string", format: "binary" });

const listReleases = projectRoute("GET /api/releases", {
  summary: "The releases with their files; drafts only with the right to write",
  request: { query: z.object(htmlParameter) },
  responses: {
    200: json(
      releaseListSchema,
      "The releases, newest first; at most 1000",
    ),
    ...projectErrors(400),
  },
});

const createRelease = projectRoute("POST /api/releases", {
  summary: "Make a release and its tag; a draft gets its tag when it is published",
  request: {
    body: jsonRequest(newReleaseSchema.meta({ id: "ReleaseRequest" }), {
      tag_name: "v1.2.0",
      name: "Version 1.2",
      body: "What is new: …",
      checkin: "trunk",
    }),
  },
  responses: { 201: json(releaseSchema, "The release"), ...projectErrors(400, 409, 413) },
});

const getRelease = projectRoute("GET /api/releases/{tag}", {
  summary: "A release with its files",
  request: { params, query: z.object(htmlParameter) },
  responses: { 200: json(releaseSchema, "The release"), ...projectErrors(400) },
});

const changeRelease = projectRoute("PATCH /api/releases/{tag}", {
  summary: "Change a release's name or notes, or publish a draft",
  request: {
    params,
    body: jsonRequest(releaseChangeSchema.meta({ id: "ReleaseChange" }), { is_draft: false }),
  },
  responses: { 200: json(releaseSchema, "The release"), ...projectErrors(400, 409, 413) },
});

const deleteRelease = projectRoute("DELETE /api/releases/{tag}", {
  summary: "Remove a release with its files; its tag stays",
  request: { params },
  responses: { 204: { description: "Removed" }, ...projectErrors(409) },
});

const getAsset = projectRoute("GET /api/releases/{tag}/assets/{file}", {
  summary: "The bytes of a release's file",
  description:
    "Supports `Range`, `If-Range`, and `If-None-Match` with the entity tag, which is the file's hash.",
  request: { params: assetParams },
  responses: { ...bytesResponses, ...projectErrors(400) },
});

const putAsset = projectRoute("PUT /api/releases/{tag}/assets/{file}", {
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

const deleteAsset = projectRoute("DELETE /api/releases/{tag}/assets/{file}", {
  summary: "Remove a file of a release",
  request: { params: assetParams },
  responses: { 204: { description: "Removed" }, ...projectErrors(400, 409) },
});

type ReleaseServices = Pick<
  Services,
  "hosting" | "accounts" | "config" | "identity" | "webSessions" | "pagesHost"
>;

/** `/api/releases`: releases and their files. */
export function releaseRoutes(services: ReleaseServices) {
  const { hosting: { releases, texts } } = services;
  /** Releases with their notes as HTML, if the request asks for it. */
  const shown = async (context: Context<AppEnv>, list: readonly Release[]): Promise<Release[]> => {
    if (context.req.query("html") !== "true") return [...list];
    const sources = list.map(({ body: text }) => ({ text, mimetype: "text/x-markdown" }));
    const html = await texts.htmlOf(context.get("access").project, sources);
    return list.map((release, index) => ({ ...release, body_html: html[index] ?? "" }));
  };
  const requestOf = requestsOf(services);
  const routes = newRoutes()
    .openapi(listReleases, async (context) => {
      const { project } = context.get("access");
      const list = await releases.list(project, viewerOf(context));
      const releasesText = await writeArray(await shown(context, list));
      return jsonText<{ releases: Release[] }>(context, `{"releases":${releasesText}}`);
    })
    .openapi(createRelease, async (context) => {
      const { project } = context.get("access");
      const wanted = context.req.valid("json");
      return context.json(await releases.create(project, wanted, requestOf(context)), 201);
    })
    .openapi(getRelease, async (context) => {
      const { project } = context.get("access");
      const { tag } = context.req.valid("param");
      const found = await releases.find(project, tag, viewerOf(context));
      const [release = found] = await shown(context, [found]);
      return context.json(release, 200);
    })
    .openapi(changeRelease, async (context) => {
      const { project } = context.get("access");
      const { tag } = context.req.valid("param");
      const change = context.req.valid("json");
      return context.json(await releases.change(project, tag, change, requestOf(context)), 200);
    })
    .openapi(deleteRelease, async (context) => {
      const { project } = context.get("access");
      await releases.remove(project, context.req.valid("param").tag, requestOf(context));
      return context.body(null, 204);
    });
  return addAssetRoutes(routes, services);
}

function addAssetRoutes<Routes extends OpenAPIHono<AppEnv>>(
  routes: Routes,
  services: ReleaseServices,
) {
  const { hosting: { releases, repositories, uploads }, config } = services;
  const { stallMilliseconds } = bodyLimitsOf(config);
  const requestOf = requestsOf(services);
  return routes
    .openapi(getAsset, async (context) => {
      const { project } = context.get("access");
      const { tag, file } = context.req.valid("param");
      const { assets } = await releases.find(project, tag, viewerOf(context));
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
      }, requestOf(context));
      return context.json(asset, isNew ? 201 : 200);
    })
    .openapi(deleteAsset, async (context) => {
      const { project } = context.get("access");
      const { tag, file } = context.req.valid("param");
      await releases.files.remove(project, tag, file, requestOf(context));
      return context.body(null, 204);
    });
}

function requestsOf({ accounts }: ReleaseServices) {
  return (context: Context<AppEnv>) => ({
    caller: callerOf(context),
    actor: actorOf(context.get("access"), undefined, accounts),
  });
}

function viewerOf(context: Context<AppEnv>) {
  return { withDrafts: context.get("access").may("write") };
}
