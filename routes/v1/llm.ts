import { z } from "../extended_zod.ts";
import type { Llm } from "../../services/llm/mod.ts";
import {
  backendChangeSchema,
  backendRequestSchema,
  completionRequestSchema,
} from "../../services/llm/schemas.ts";
import { type Completions, ticketHeaders } from "./completions.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { route } from "../route.ts";
import { errors, json, jsonRequest } from "../schemas.ts";

const backendSchema = z.object({
  name: z.string(),
  provider: z.string(),
  base_url: z.string().openapi({ description: "Empty for the provider's default address" }),
  api_key_env: z.string().openapi({
    description: "The environment variable with the provider's key",
  }),
  models: z.array(z.string()).openapi({ description: "The result of the last live query" }),
  allow: z.array(z.string()),
  block: z.array(z.string()),
  source: z.enum(["configuration", "api"]),
}).openapi("LlmBackend");

const discoveredSchema = z.object({
  name: z.string(),
  provider: z.string(),
  base_url: z.string(),
  api_key_env: z.string().openapi({ description: "The environment variable that is set" }),
  configured: z.boolean().openapi({ description: "Whether a backend has this provider" }),
}).openapi("DiscoveredLlmBackend");

const providerSchema = z.object({
  name: z.string(),
  base_url: z.string(),
  api_key_env: z.string().openapi({ description: "Empty if it usually needs no key" }),
  api: z.enum(["openai", "anthropic", "gemini", "bedrock", "ollama"]),
}).openapi("LlmProvider");

const completionSchema = z.looseObject({}).openapi("ChatCompletion", {
  description: "A `chat.completion` object in the common chat-completions format",
});

const parameters = z.object({ name: z.string() });

const listBackends = route("GET /v1/llm/backends", {
  summary: "List the LLM backends; the first one is the default",
  responses: {
    200: json(z.array(backendSchema), "The backends; configured ones first"),
    ...errors(),
  },
});

const createBackend = route("POST /v1/llm/backends", {
  summary: "Make an LLM backend",
  request: {
    body: jsonRequest(backendRequestSchema.meta({ id: "LlmBackendRequest" }), {
      name: "main",
      provider: "openai",
      api_key_env: "OPENAI_API_KEY",
    }),
  },
  responses: { 201: json(backendSchema, "The backend"), ...errors(400, 409, 413, 429, 503) },
});

const changeBackend = route("PUT /v1/llm/backends/{name}", {
  summary: "Change the given fields of an LLM backend",
  request: {
    params: parameters,
    body: jsonRequest(backendChangeSchema.meta({ id: "LlmBackendChange" }), { allow: ["gpt-*"] }),
  },
  responses: { 200: json(backendSchema, "The backend"), ...errors(400, 404, 409, 413, 503) },
});

const deleteBackend = route("DELETE /v1/llm/backends/{name}", {
  summary: "Remove an LLM backend",
  request: { params: parameters },
  responses: { 204: { description: "Removed" }, ...errors(404, 409, 503) },
});

const listModels = route("GET /v1/llm/backends/{name}/models", {
  summary: "List the models of a backend's provider",
  request: { params: parameters },
  responses: {
    200: json(z.array(z.string()), "The allowed models, in the provider's order"),
    ...errors(404, 502, 503, 504),
  },
});

const discover = route("POST /v1/llm/discover", {
  summary: "List the providers with a key in the environment",
  responses: {
    200: json(z.array(discoveredSchema), "The providers; no backends are made"),
    ...errors(),
  },
});

const listKnown = route("GET /v1/llm/known", {
  summary: "List the providers that muster knows",
  responses: { 200: json(z.array(providerSchema), "The providers, by name"), ...errors() },
});

const complete = route("POST /v1/llm/complete", {
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

/** `/v1/llm…` */
export function llmRoutes({ backends, gateway }: Llm, completions: Completions) {
  return newRoutes()
    .openapi(listBackends, async (context) => context.json(await backends.list(), 200))
    .openapi(createBackend, async (context) => {
      const request = context.req.valid("json");
      return context.json(await backends.create(request, callerOf(context)), 201);
    })
    .openapi(changeBackend, async (context) => {
      const { name } = context.req.valid("param");
      const change = context.req.valid("json");
      return context.json(await backends.change(name, change, callerOf(context)), 200);
    })
    .openapi(deleteBackend, async (context) => {
      const { name } = context.req.valid("param");
      await backends.delete(name, callerOf(context));
      gateway.forget(name);
      return context.body(null, 204);
    })
    .openapi(listModels, async (context) => {
      const { name } = context.req.valid("param");
      const models = await completions.wait(context, (signal) => gateway.models(name, signal));
      return context.json(models, 200);
    })
    .openapi(discover, async (context) => context.json(await backends.discover(), 200))
    .openapi(listKnown, (context) => context.json(backends.known(), 200))
    .openapi(
      complete,
      (context) =>
        completions.answer(context, context.req.valid("json"), context.req.valid("header")),
    );
}
