import { z } from "zod";
import { TEXT_BOUNDS } from "../fossil/front/mod.ts";
import { longTextSchema, trimmedLineSchema } from "../validation/schemas.ts";

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

export type NewThreadRequest = z.infer<typeof newThreadSchema>;
export type ReplyRequest = z.infer<typeof replySchema>;
