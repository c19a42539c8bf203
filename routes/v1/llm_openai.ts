import { ApiRoutes } from "../api_routes.ts";
import { z } from "../extended_zod.ts";
import type { KnownModel, Llm, ModelRequest } from "../../services/models/llm/mod.ts";
import {
  completionRequestSchema,
  embeddingsRequestSchema,
  responsesRequestSchema,
} from "../../services/models/llm/schemas.ts";
import { type Completions, type TicketHeaders, ticketHeaders } from "./completions.ts";
import { json, jsonRequest, openAiErrors } from "../schemas.ts";
import { specialRoute } from "../special_route.ts";

const modelSchema = z.object({
  id: z.string().openapi({ description: "The model's name in requests" }),
  object: z.literal("model"),
  created: z.int().openapi({ description: "Always 0: backends do not report it" }),
  owned_by: z.string().openapi({ description: "The name of the backend" }),
}).openapi("OpenAiModel");

const listSchema = z.object({ object: z.literal("list"), data: z.array(modelSchema) })
  .openapi("OpenAiModelList");

const complete = specialRoute("POST /v1/llm/openai/chat/completions", {
  operationId: "createChatCompletion",
  summary: "Complete a chat with a model, for clients of OpenAI's API",
  request: {
    headers: ticketHeaders,
    body: jsonRequest(completionRequestSchema, {
      model: "main/gpt-5",
      messages: [{ role: "user", content: "Say hello." }],
    }),
  },
  responses: {
    200: {
      description: "The completion; with `stream: true` its chunks as server-sent events",
      content: {
        "application/json": { schema: z.looseObject({}) },
        "text/event-stream": { schema: z.string() },
      },
    },
    ...openAiErrors(400, 401, 403, 404, 413, 422, 429, 500, 502, 503, 504),
  },
});

const respond = specialRoute("POST /v1/llm/openai/responses", {
  operationId: "createResponse",
  summary: "Have a model answer, for clients of OpenAI's Responses API",
  request: {
    headers: ticketHeaders,
    body: jsonRequest(responsesRequestSchema, { model: "main/gpt-5", input: "Say hello." }),
  },
  responses: {
    200: {
      description: "The response; with `stream: true` its server-sent events",
      content: {
        "application/json": { schema: z.looseObject({}) },
        "text/event-stream": { schema: z.string() },
      },
    },
    ...openAiErrors(400, 401, 403, 404, 413, 422, 429, 500, 502, 503, 504),
  },
});

const embed = specialRoute("POST /v1/llm/openai/embeddings", {
  operationId: "createEmbeddings",
  summary: "Have a model make embeddings, for clients of OpenAI's API",
  request: {
    headers: ticketHeaders,
    body: jsonRequest(embeddingsRequestSchema, {
      model: "main/text-embedding-3-small",
      input: ["a text"],
    }),
  },
  responses: {
    200: json(z.looseObject({}), "The embeddings"),
    ...openAiErrors(400, 401, 403, 404, 413, 422, 429, 500, 502, 503, 504),
  },
});

const listModels = specialRoute("GET /v1/llm/openai/models", {
  operationId: "listOpenAiModels",
  summary: "List the models of all backends, for clients of OpenAI's API",
  responses: {
    200: json(listSchema, "Each as `backend/model`"),
    ...openAiErrors(401, 403, 429, 500, 503),
  },
});

const getModel = specialRoute("GET /v1/llm/openai/models/{model}", {
  operationId: "getOpenAiModel",
  summary: "One of these models",
  request: {
    params: z.object({
      model: z.string().openapi({
        description: "`backend/model`, or the model's name alone; slashes may be written as %2F",
        example: "main/gpt-5",
      }),
    }),
  },
  responses: {
    200: json(modelSchema, "The model"),
    ...openAiErrors(401, 403, 404, 429, 500, 503),
  },
});

/** `/v1/llm/openai…`: the base URL for OpenAI's SDKs. */
export function openAiRoutes({ gateway }: Llm, completions: Completions) {
  return new ApiRoutes()
    .handle(embed, (context) => {
      const request: ModelRequest = context.req.valid("json" as never);
      const headers: TicketHeaders = context.req.valid("header" as never);
      return completions.answer(context, request, headers, { format: "embeddings" });
    })
    .openapi(
      complete,
      (context) =>
        completions.answer(context, context.req.valid("json"), context.req.valid("header")),
    )
    .openapi(
      respond,
      (context) =>
        completions.answer(context, context.req.valid("json"), context.req.valid("header"), {
          format: "responses",
        }),
    )
    .openapi(listModels, async (context) => {
      const models = await completions.wait(context, (signal) => gateway.allModels(signal));
      return context.json({ object: "list" as const, data: models.map(shown) }, 200);
    })
    .openapi(getModel, async (context) => {
      const { model: name } = context.req.valid("param");
      const model = await completions.wait(context, (signal) => gateway.model(name, signal));
      return context.json(shown(model), 200);
    });
}

function shown({ id, backend }: KnownModel) {
  return { id, object: "model" as const, created: 0, owned_by: backend };
}
