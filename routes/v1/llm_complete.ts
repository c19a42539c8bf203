import { ApiRoutes } from "../api_routes.ts";
import { z } from "../extended_zod.ts";
import { completionRequestSchema } from "../../services/models/llm/schemas.ts";
import { type Completions, ticketHeaders } from "./completions.ts";
import { errors, jsonRequest } from "../schemas.ts";
import { specialRoute } from "../special_route.ts";

const completionSchema = z.looseObject({}).openapi("ChatCompletion", {
  description: "A `chat.completion` object in the common chat-completions format",
});

const complete = specialRoute("POST /v1/llm/complete", {
  operationId: "completeChat",
  summary: "Complete a chat with a model",
  request: {
    headers: ticketHeaders,
    body: jsonRequest(completionRequestSchema.meta({ id: "ChatCompletionRequest" }), {
      model: "gpt-5",
      messages: [{ role: "user", content: "Say hello." }],
    }),
  },
  responses: {
    200: {
      description: "The completion; with `stream: true` its chunks as server-sent events",
      content: {
        "application/json": { schema: completionSchema },
        "text/event-stream": { schema: z.string() },
      },
    },
    ...errors(400, 404, 413, 422, 429, 502, 503, 504),
  },
});

/** `POST /v1/llm/complete` */
export function completionRoutes(completions: Completions) {
  return new ApiRoutes().openapi(
    complete,
    (context) =>
      completions.answer(context, context.req.valid("json"), context.req.valid("header")),
  );
}
