import { z } from "zod";
import { TEXT_BOUNDS } from "../../engines/fossil/front/mod.ts";
import { htmlSchema, pageFields, timestampSchema } from "../projects/schemas.ts";
import { lineSchema, longTextSchema, trimmedLineSchema } from "../../kernel/validation/schemas.ts";

/** Longest text of a note, in characters. */
const MAX_TEXT = 1_000_000;
const MAX_TAGS = 20;

const comment = trimmedLineSchema(1, TEXT_BOUNDS.comment)
  .describe("One line for the timeline");
const content = longTextSchema(MAX_TEXT).min(1, { error: "must not be empty" });
const mimetype = z.enum(["text/x-markdown", "text/x-fossil-wiki", "text/plain"], {
  error: 'must be "text/x-markdown", "text/x-fossil-wiki" or "text/plain"',
});
const timestamp = z.iso.datetime({ offset: true, error: "must be a date and time (ISO 8601)" })
  .describe("The note's time in the timeline");
const tag = lineSchema(1, TEXT_BOUNDS.name).regex(/^[^\s,]*$/, {
  error: "must have no spaces and commas",
});
const tags = z.array(tag).max(MAX_TAGS, { error: `must have at most ${MAX_TAGS} entries` });
const color = z.string().regex(/^#[0-9a-fA-F]{6}$/, { error: "must be a color such as #ffcc00" });

/** The body of a request that makes a technote. */
export const newTechnoteSchema = z.object({
  comment,
  content,
  mimetype: mimetype.default("text/x-markdown"),
  timestamp: timestamp.optional().describe("The note's time in the timeline; by default, now"),
  tags: tags.default([]),
  color: color.nullable().default(null).describe("Its background in the timeline"),
});

/** The body of a request that changes a technote. Absent fields stay as they are. */
export const technoteChangeSchema = z.object({
  comment: comment.optional(),
  content: content.optional(),
  mimetype: mimetype.optional(),
  timestamp: timestamp.optional(),
  tags: tags.optional(),
  color: color.nullable().optional(),
  parent: z.string().regex(/^[0-9a-fA-F]{4,64}$/, { error: "must be the id of a version" })
    .optional().describe(
      "The edited version, or a prefix of its id; 409 if the note has a newer one. By default, " +
        "the edit follows the newest version",
    ),
});

const technoteFields = {
  id: z.string().meta({ description: "Shared by all versions" }),
  uuid: z.string(),
  timestamp: timestampSchema,
  last_modified: timestampSchema,
  user: z.string(),
  comment: z.string(),
  color: z.string().nullable().meta({ description: "Background in the timeline" }),
  tags: z.array(z.string()).readonly(),
};

export const technotesSchema = z.object({
  technotes: z.array(z.object(technoteFields)).readonly(),
  ...pageFields,
}).meta({ id: "Technotes" });

export const technoteSchema = z.object({
  ...technoteFields,
  mimetype: z.string(),
  content: z.string(),
  content_html: htmlSchema,
  versions: z.array(z.object({
    uuid: z.string(),
    timestamp: timestampSchema,
    user: z.string(),
  })).readonly(),
}).meta({ id: "Technote" });

export type NewTechnoteRequest = z.infer<typeof newTechnoteSchema>;
export type TechnoteChange = z.infer<typeof technoteChangeSchema>;
