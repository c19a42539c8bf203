import { z } from "zod";

function text(maximum: number) {
  return z.string().max(maximum, { error: `must have at most ${maximum} characters` });
}

/** The name of a tag; the engine refuses names of branches. */
export const tagNameSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/, {
  error: "must be 1 to 100 letters, digits, and . _ + - after the first",
});

/** The name of a release's file. */
export const assetNameSchema = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._+~@ -]{0,199}$/, {
  error: "must be 1 to 200 letters, digits, spaces, and . _ + ~ @ -",
});

const name = text(200);
const body = text(65_536);
const checkin = z.string().min(1).max(200);

/** What a release is made with. */
export const newReleaseSchema = z.object({
  tag_name: tagNameSchema,
  name: name.optional().describe("The tag's name where it is absent"),
  body: body.default("").describe("Notes, in Markdown"),
  checkin: checkin.optional().describe(
    "The check-in: an id, a branch or a tag. Where it is absent: the one that has the tag, or else " +
      "the tip of trunk",
  ),
  is_prerelease: z.boolean().default(false),
  is_draft: z.boolean().default(false),
});

/** What can be changed of a release. */
export const releaseChangeSchema = z.object({
  name: name.optional(),
  body: body.optional(),
  is_prerelease: z.boolean().optional(),
  is_draft: z.literal(false, { error: "must be false: a release cannot be a draft again" })
    .optional().describe("Publishes a draft"),
});

/** What a tag is made with. */
export const newTagSchema = z.object({
  name: tagNameSchema,
  checkin: checkin.optional().describe("The check-in; the tip of trunk where it is absent"),
  message: text(2000).default(""),
});

export type NewRelease = z.infer<typeof newReleaseSchema>;
export type ReleaseChange = z.infer<typeof releaseChangeSchema>;
