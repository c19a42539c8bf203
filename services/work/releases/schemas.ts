import { z } from "zod";
import { TEXT_BOUNDS } from "../../engines/fossil/front/mod.ts";
import { htmlSchema, timestampSchema } from "../projects/schemas.ts";
import { lineSchema, longTextSchema } from "../../kernel/validation/schemas.ts";

/** The name of a tag; the engine refuses names of branches. */
const tagNameSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/, {
  error: "must be 1 to 100 letters, digits, and . _ + - after the first",
});

/** The name of a release's file. */
export const assetNameSchema = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._+~@ -]{0,199}$/, {
  error: "must be 1 to 200 letters, digits, spaces, and . _ + ~ @ -",
});

const name = lineSchema(0, TEXT_BOUNDS.name);
const body = longTextSchema(TEXT_BOUNDS.comment);
const checkin = z.string().min(1).max(200);

/** The body of a request that makes a release. */
export const newReleaseSchema = z.object({
  tag_name: tagNameSchema,
  name: name.optional().describe("By default, the tag's name"),
  body: body.default("").describe("Notes, in Markdown"),
  checkin: checkin.optional().describe(
    "The check-in: an id, a branch or a tag. By default, the one with the tag if it exists, " +
      "otherwise the tip of the main branch",
  ),
  is_prerelease: z.boolean().default(false),
  is_draft: z.boolean().default(false),
});

/** The body of a request that changes a release. */
export const releaseChangeSchema = z.object({
  name: name.optional(),
  body: body.optional(),
  is_prerelease: z.boolean().optional(),
  is_draft: z.literal(false, {
    error: "must be false: a published release cannot become a draft again",
  })
    .optional().describe("Publishes a draft"),
});

/** The body of a request that makes a tag. */
export const newTagSchema = z.object({
  name: tagNameSchema,
  checkin: checkin.optional().describe("The check-in; by default, the tip of the main branch"),
  message: longTextSchema(2000).default(""),
});

/** A file of a release. */
export const assetSchema = z.object({
  name: z.string(),
  file_size_bytes: z.int(),
  content_type: z.string(),
  download_count: z.int(),
  uuid: z.string().meta({ description: "The hash of the content" }),
}).meta({ id: "ReleaseAsset" });

/** A release with its files. */
export const releaseSchema = z.object({
  tag_name: z.string(),
  name: z.string(),
  body: z.string().meta({ description: "Notes, in Markdown" }),
  body_html: htmlSchema,
  is_prerelease: z.boolean(),
  is_draft: z.boolean(),
  author: z.string(),
  created_at: z.iso.datetime(),
  published_at: z.iso.datetime().nullable(),
  checkin_uuid: z.string(),
  assets: z.array(assetSchema).readonly(),
}).meta({ id: "Release" });

export const releaseListSchema = z.object({ releases: z.array(releaseSchema) });

/** A resumable upload of a release's file. */
export const uploadSchema = z.object({
  id: z.string(),
  tag_name: z.string(),
  name: z.string().meta({ description: "The file of the release" }),
  content_type: z.string(),
  offset: z.int().meta({ description: "Received bytes" }),
  length: z.int(),
  is_finished: z.boolean().meta({ description: "Whether the release has the file" }),
  created_at: timestampSchema,
  expires_at: timestampSchema,
}).meta({ id: "Upload" });

export type NewRelease = z.infer<typeof newReleaseSchema>;
export type ReleaseChange = z.infer<typeof releaseChangeSchema>;
export type Asset = z.output<typeof assetSchema>;
export type Release = z.output<typeof releaseSchema>;
export type UploadView = z.output<typeof uploadSchema>;
