import { z } from "zod";
import * as code from "../../services/work/code/operations.ts";
import { createdTagSchema, tagsSchema } from "../../services/work/code/schemas.ts";
import * as releases from "../../services/work/releases/operations.ts";
import { releaseSchema } from "../../services/work/releases/schemas.ts";
import { listCut, partShape } from "./parts.ts";
import { type Tool, tool } from "../tool.ts";

const listTags = tool({
  name: "list_tags",
  description:
    "Lists the tags of check-ins, newest first. For versions with notes and files, use " +
    "list_releases.",
  does: code.listTags,
  input: partShape(100, "tags"),
  output: { tags: tagsSchema.shape.tags, total: z.int() },
  async run({ limit, offset }, project) {
    const { tags } = await project.invoke(code.listTags, {});
    const total = tags.length;
    return {
      data: { tags: tags.slice(offset, offset + limit), total },
      cuts: [listCut("tags", "tags", { first: offset, total })],
    };
  },
});

const tagShape = {
  checkin: z.string().optional()
    .describe("Hash, branch or tag; the tip of the main branch if absent"),
};

const createTag = tool({
  name: "create_tag",
  description:
    "Tags a check-in. For a version with notes, use create_release, which makes its tag.",
  does: code.createTag,
  input: {
    name: z.string().min(1).max(100).describe("Letters, digits and . _ + -, such as v1.2.0"),
    ...tagShape,
    message: z.string().max(2000).optional(),
  },
  output: createdTagSchema.shape,
  advice: { notFound: "get_timeline lists check-ins", conflict: "list_tags shows the tags" },
  async run(body, project) {
    return { data: await project.invoke(code.createTag, body) };
  },
});

const { body_html: _html, ...releaseFields } = releaseSchema.shape;

const listReleases = tool({
  name: "list_releases",
  description: "Lists the releases with their notes and files, newest first.",
  does: releases.listReleases,
  input: partShape(25, "releases"),
  output: { releases: z.array(z.object(releaseFields)), total: z.int() },
  async run({ limit, offset }, project) {
    const { releases: found } = await project.invoke(releases.listReleases, {});
    const total = found.length;
    return {
      data: { releases: found.slice(offset, offset + limit), total },
      cuts: [listCut("releases", "releases", { first: offset, total })],
    };
  },
});

const { body: _body, assets: _assets, ...madeFields } = releaseFields;

const createRelease = tool({
  name: "create_release",
  description:
    "Makes a release: a version with notes, and its tag. A draft is seen only by those who " +
    "may write, and gets its tag when it is published.",
  does: releases.createRelease,
  input: {
    tag_name: z.string().min(1).max(100).describe("Such as v1.2.0"),
    name: z.string().max(200).optional().describe("By default, the tag's name"),
    body: z.string().max(65_536).default("").describe("Notes, in Markdown"),
    ...tagShape,
    is_prerelease: z.boolean().default(false),
    is_draft: z.boolean().default(false),
  },
  output: madeFields,
  advice: {
    notFound: "get_timeline lists check-ins",
    conflict: "list_releases shows the releases",
  },
  async run(body, project) {
    const made = await project.invoke(releases.createRelease, body);
    const { body: _, body_html: __, assets: ___, ...release } = made;
    return { data: release };
  },
});

/** Tags and releases. */
export const releaseTools: readonly Tool[] = [listTags, createTag, listReleases, createRelease];
