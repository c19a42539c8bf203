import { z } from "zod";
import { Conflict } from "../../kernel/errors.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { writeArray } from "../../kernel/pieces.ts";
import { actorOf, type Project } from "../projects/mod.ts";
import { Created, operation, type OperationCall, SerializedJson } from "../projects/operation.ts";
import { htmlParameter } from "../projects/schemas.ts";
import type { ProjectTexts } from "../texts/mod.ts";
import type { ReleaseRequest } from "./records.ts";
import type { Releases } from "./releases.ts";
import {
  assetNameSchema,
  newReleaseSchema,
  type Release,
  releaseChangeSchema,
  releaseListSchema,
  releaseSchema,
  uploadSchema,
} from "./schemas.ts";
import type { Uploads } from "./uploads.ts";

/** What the operations on releases and uploads call. */
interface ReleaseServices {
  readonly hosting: {
    readonly releases: Releases;
    readonly uploads: Uploads;
    readonly texts: ProjectTexts;
  };
  readonly accounts: Pick<AccountDirectory, "find" | "session">;
}

const byTag = z.object({ tag: z.string() });
const aRelease = { schema: releaseSchema, description: "The release" };

function requestOf(
  { accounts }: ReleaseServices,
  { access, caller }: OperationCall,
): ReleaseRequest {
  return { caller, actor: actorOf(access, undefined, accounts) };
}

function viewerOf({ access }: OperationCall) {
  return { withDrafts: access.may("write") };
}

export const listReleases = operation({
  http: "GET /api/releases",
  needs: "read",
  mcp: {
    name: "get_releases",
    about: "Lists the releases with their notes and files, newest first.",
    takes: {},
    list: { field: "releases", noun: "releases", limit: 25 },
  },
  summary: "The releases with their files; drafts only with the right to write",
  input: z.object(htmlParameter),
  ok: { schema: releaseListSchema, description: "The releases, newest first; at most 1000" },
}, async ({ hosting: { releases, texts } }: ReleaseServices, { html }, call) => {
  const list = await releases.list(call.project, viewerOf(call));
  const shown = html === "true" ? await withHtml(texts, call.project, list) : list;
  return new SerializedJson(`{"releases":${await writeArray(shown)}}`);
});

export const createRelease = operation({
  http: "POST /api/releases",
  needs: "write",
  mcp: {
    name: "create_release",
    about:
      "Makes a release: a version with notes, and its tag. A draft is seen only by those who " +
      "may write, and gets its tag when it is published.",
    takes: {
      tag_name: "Such as v1.2.0",
      name: "By default, the tag's name",
      body: "Notes, in Markdown",
      checkin: "Hash, branch or tag; the main branch if absent",
      is_prerelease: "Not meant for everybody yet",
      is_draft: "Published later",
    },
    hides: ["body", "body_html", "assets"],
    advice: {
      notFound: "get_timeline lists check-ins",
      conflict: "get_releases shows the releases",
    },
  },
  summary: "Make a release and its tag; a draft gets its tag when it is published",
  input: newReleaseSchema,
  bodyName: "ReleaseRequest",
  example: {
    tag_name: "v1.2.0",
    name: "Version 1.2",
    body: "What is new: …",
    checkin: "trunk",
  },
  created: aRelease,
  refusals: [{ error: Conflict }],
}, async (services: ReleaseServices, wanted, call) => {
  const { releases } = services.hosting;
  return new Created(await releases.create(call.project, wanted, requestOf(services, call)));
});

export const getRelease = operation({
  http: "GET /api/releases/{tag}",
  needs: "read",
  summary: "A release with its files",
  input: byTag.extend(htmlParameter),
  ok: aRelease,
}, async ({ hosting: { releases, texts } }: ReleaseServices, { tag, html }, call) => {
  const found = await releases.find(call.project, tag, viewerOf(call));
  if (html !== "true") return found;
  const [release = found] = await withHtml(texts, call.project, [found]);
  return release;
});

export const changeRelease = operation({
  http: "PATCH /api/releases/{tag}",
  needs: "write",
  summary: "Change a release's name or notes, or publish a draft",
  input: releaseChangeSchema.extend(byTag.shape),
  bodyName: "ReleaseChange",
  example: { is_draft: false },
  ok: aRelease,
  refusals: [{ error: Conflict }],
}, async (services: ReleaseServices, { tag, ...change }, call) => {
  const { releases } = services.hosting;
  return await releases.change(call.project, tag, change, requestOf(services, call));
});

export const deleteRelease = operation({
  http: "DELETE /api/releases/{tag}",
  needs: "write",
  summary: "Remove a release with its files; its tag stays",
  input: byTag,
  done: "Removed",
  refusals: [{ error: Conflict }],
}, async (services: ReleaseServices, { tag }, call) => {
  await services.hosting.releases.remove(call.project, tag, requestOf(services, call));
  return undefined;
});

export const deleteReleaseAsset = operation({
  http: "DELETE /api/releases/{tag}/assets/{file}",
  needs: "write",
  summary: "Remove a file of a release",
  input: byTag.extend({ file: assetNameSchema }),
  done: "Removed",
  refusals: [{ error: Conflict }],
}, async (services: ReleaseServices, { tag, file }, call) => {
  const { files } = services.hosting.releases;
  await files.remove(call.project, tag, file, requestOf(services, call));
  return undefined;
});

export const listUploads = operation({
  http: "GET /api/uploads",
  needs: "write",
  summary: "Your resumable uploads; for admins, everybody's",
  input: z.object({}),
  ok: {
    schema: z.object({ uploads: z.array(uploadSchema).readonly() }),
    description: "The uploads, oldest first; at most 1100",
  },
}, async ({ hosting, accounts }: ReleaseServices, _input, { access, project }) => {
  const viewer = { actor: actorOf(access, undefined, accounts), isAdmin: access.isAdmin };
  return { uploads: await hosting.uploads.list(project, viewer) };
});

/** Releases with their notes as HTML too. */
async function withHtml(texts: ProjectTexts, project: Project, list: readonly Release[]) {
  const sources = list.map(({ body: text }) => ({ text, mimetype: "text/x-markdown" }));
  const html = await texts.htmlOf(project, sources);
  return list.map((release, index) => ({ ...release, body_html: html[index] ?? "" }));
}
