import { z } from "zod";
import { TEXT_BOUNDS } from "../../engines/fossil/front/mod.ts";
import { pageFields, timestampSchema } from "../projects/schemas.ts";
import { lineSchema, whole } from "../../kernel/validation/schemas.ts";
import { isLine, isVisible } from "../../kernel/words.ts";

/** The markups of a page, under the names that Fossil stores. */
export const MIMETYPES = ["text/x-markdown", "text/x-fossil-wiki", "text/plain"] as const;

/** Other names of a markup that requests may use. */
const OTHER_NAMES: Readonly<Record<string, string>> = { "text/markdown": "text/x-markdown" };

/** Longest name of a page in Fossil, in bytes of UTF-8. */
const MAX_NAME_BYTES = 100;

const encoder = new TextEncoder();

/** Whether a name is valid by Fossil's rules; it may contain slashes. */
function isPageName(name: string): boolean {
  return encoder.encode(name).length <= MAX_NAME_BYTES &&
    /^[^ \p{Cc}](?:[^\p{Cc}]*[^ \p{Cc}])?$/u.test(name) && !name.includes("  ") &&
    isLine(name) && isVisible(name);
}

/** The name of a page to write. */
export const pageNameSchema = z.string().refine(isPageName, {
  error:
    `must have 1 to ${MAX_NAME_BYTES} bytes, no control or invisible characters, no space at its ends and ` +
    "no two spaces in a row",
});

/** The body of a request that writes a version of a page. */
export const wikiEditSchema = z.strictObject({
  content: whole(
    z.string().min(1, { error: "must not be empty; DELETE deletes the page" })
      .refine((text) => !text.includes("\0"), { error: "must not contain NUL characters" }),
  ),
  mimetype: z.preprocess(
    (name) => typeof name === "string" ? OTHER_NAMES[name] ?? name : name,
    z.enum(MIMETYPES, {
      error: 'must be "text/x-markdown", "text/x-fossil-wiki" or "text/plain"',
    }),
  ).optional().describe("By default, the page's own, or text/x-markdown for a new page"),
  comment: lineSchema(0, TEXT_BOUNDS.comment).optional().describe(
    "Describes the change in the timeline",
  ),
  parent: z.string().regex(/^[0-9a-fA-F]{4,64}$/, { error: "must be the id of a version" })
    .nullable().optional().describe(
      "The edited version, or a prefix of its id; null for a new page. 409 if the page " +
        "has a newer one. By default, the edit follows the newest version",
    ),
  agent_id: z.string().max(TEXT_BOUNDS.name, {
    error: `must have at most ${TEXT_BOUNDS.name} characters`,
  }).optional(),
});

const refFields = {
  name: z.string(),
  uuid: z.string().meta({ description: "The id of the version" }),
  last_modified: timestampSchema,
  user: z.string(),
};

/** A page with its text. */
export const pageSchema = z.object({
  ...refFields,
  mimetype: z.string().meta({ description: `Usually ${MIMETYPES.join(", ")}` }),
  content: z.string(),
  content_html: z.string().meta({
    description: "The content as HTML without scripts, styles, frames and forms",
  }),
}).meta({ id: "WikiPage" });

export const pageListSchema = z.object({
  pages: z.array(z.object(refFields).meta({ id: "WikiPageRef" })),
});

const versionSchema = z.object({
  uuid: z.string(),
  timestamp: timestampSchema,
  user: z.string(),
  size: z.int().meta({ description: "Length of the text in bytes" }),
  is_deletion: z.boolean(),
}).meta({ id: "WikiVersion" });

/** A page of a page's versions. */
export const wikiHistorySchema = z.object({
  name: z.string(),
  versions: z.array(versionSchema),
  ...pageFields,
}).meta({ id: "WikiHistory" });

export const wikiDiffSchema = z.object({
  name: z.string(),
  from: z.string().nullable().meta({ description: "Null if `to` is the first version" }),
  to: z.string(),
  added: z.int().meta({ description: "Lines" }),
  deleted: z.int(),
  diff: z.string().meta({ description: "A unified diff without its headers" }),
}).meta({ id: "WikiDiff" });

/** The error of a write that does not follow the newest version. */
export const wikiConflictSchema = z.object({
  error: z.string().meta({ description: "What went wrong, as a sentence" }),
  uuid: z.string().nullable().optional().meta({ description: "The newest version" }),
  user: z.string().nullable().optional(),
  last_modified: z.string().nullable().optional(),
}).meta({ id: "WikiConflict" });

export type WikiEditRequest = z.infer<typeof wikiEditSchema>;
