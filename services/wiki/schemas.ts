import { z } from "zod";

/** The markups of a page, under the names that Fossil stores. */
export const MIMETYPES = ["text/x-markdown", "text/x-fossil-wiki", "text/plain"] as const;

/** Names by which callers may call a markup, too. */
const OTHER_NAMES: Readonly<Record<string, string>> = { "text/markdown": "text/x-markdown" };

/** Longest name of a page, in bytes of UTF-8, as Fossil allows it. */
const MAX_NAME_BYTES = 100;

const encoder = new TextEncoder();

/** Whether a page may be called so, by Fossil's rules: slashes may be in a name. */
function isPageName(name: string): boolean {
  return encoder.encode(name).length <= MAX_NAME_BYTES &&
    /^[^ \p{Cc}](?:[^\p{Cc}]*[^ \p{Cc}])?$/u.test(name) && !name.includes("  ");
}

/** The name of a page that is written. */
export const pageNameSchema = z.string().refine(isPageName, {
  error:
    `must have 1 to ${MAX_NAME_BYTES} bytes, no control characters, no space at its ends and ` +
    "no two spaces in a row",
});

/** A version of a page that a caller writes. */
export const wikiEditSchema = z.strictObject({
  content: z.string().min(1, { error: "must not be empty; DELETE deletes the page" })
    .regex(/^[^\0]*$/, { error: "must not hold NUL characters" }),
  mimetype: z.preprocess(
    (name) => typeof name === "string" ? OTHER_NAMES[name] ?? name : name,
    z.enum(MIMETYPES, {
      error: 'must be "text/x-markdown", "text/x-fossil-wiki" or "text/plain"',
    }),
  ).optional().describe("The page's own where it is absent; text/x-markdown for a new page"),
  comment: z.string().max(1000, { error: "must have at most 1000 characters" })
    .regex(/^[^\0]*$/, { error: "must not hold NUL characters" })
    .optional().describe("What changed, for the timeline"),
  parent: z.string().regex(/^[0-9a-fA-F]{4,64}$/, { error: "must be the id of a version" })
    .nullable().optional().describe(
      "The version that was edited, or a prefix of its id; null for a new page. 409 if the page " +
        "has another one now. Absent: the edit follows the newest version",
    ),
  agent_id: z.string().max(200, { error: "must have at most 200 characters" }).optional(),
});

export type WikiEditRequest = z.infer<typeof wikiEditSchema>;
