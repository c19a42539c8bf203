import { z } from "zod";
import { TEXT_BOUNDS } from "../../engines/fossil/front/mod.ts";
import { pageFields, timestampSchema } from "../projects/schemas.ts";
import { longTextSchema, trimmedLineSchema } from "../../kernel/validation/schemas.ts";

/** Longest text of a post, in characters. */
const MAX_TEXT = 100_000;

const title = trimmedLineSchema(1, TEXT_BOUNDS.name);
const content = longTextSchema(MAX_TEXT).regex(/\S/, { error: "must not be blank" });
const mimetype = z.enum(["text/x-markdown", "text/x-fossil-wiki", "text/plain"], {
  error: 'must be "text/x-markdown", "text/x-fossil-wiki" or "text/plain"',
}).default("text/x-markdown");

/** The body of a request that begins a thread. */
export const newThreadSchema = z.object({ title, content, mimetype });

/** The body of a request that answers a post. */
export const replySchema = z.object({ content, mimetype });

const threadFields = {
  uuid: z.string().meta({ description: "The first version of the first post" }),
  title: z.string(),
  user: z.string(),
  created: timestampSchema,
  last_modified: timestampSchema,
  post_count: z.int(),
};

export const threadsSchema = z.object({
  threads: z.array(z.object(threadFields)).readonly(),
  ...pageFields,
}).meta({ id: "ForumThreads" });

export const threadSchema = z.object({
  ...threadFields,
  posts: z.array(z.object({
    uuid: z.string(),
    latest_uuid: z.string(),
    timestamp: timestampSchema,
    last_modified: timestampSchema,
    user: z.string(),
    in_reply_to: z.string().nullable(),
    mimetype: z.string(),
    content: z.string(),
    is_deleted: z.boolean(),
    version_count: z.int(),
  })).readonly(),
  ...pageFields,
}).meta({ id: "ForumThread" });

/** A post that was just written. */
export const writtenPostSchema = z.object({
  uuid: z.string(),
  thread: z.string().meta({ description: "The first post of its thread" }),
}).meta({ id: "WrittenPost" });

export type NewThreadRequest = z.infer<typeof newThreadSchema>;
export type ReplyRequest = z.infer<typeof replySchema>;
