import { z } from "zod";
import { isLine, TEXT_BOUNDS } from "../fossil/front/mod.ts";
import { lineSchema, whole } from "../validation/schemas.ts";
import { isVisible } from "../visible.ts";

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

export type WikiEditRequest = z.infer<typeof wikiEditSchema>;
