import { z } from "zod";

export { backendChangeSchema, backendRequestSchema } from "./catalog/schemas.ts";

/** A chat-completions request. Other fields are passed on unread. */
export const completionRequestSchema = z.looseObject({
  messages: z.array(z.unknown()).min(1, { error: "must not be empty" }),
  model: z.string().min(1).max(2048).optional().describe(
    'The model, or "backend/model"; it also decides which backend answers',
  ),
  backend: z.string().optional().describe("The name of the backend that shall answer"),
  stream: z.boolean().nullish().describe("Whether the answer comes as server-sent events"),
});
export type CompletionRequest = z.infer<typeof completionRequestSchema>;
