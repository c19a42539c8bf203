import type { Context } from "hono";
import type { KnownModel, Llm } from "../../services/models/llm/mod.ts";
import { countRequestSchema, messagesRequestSchema } from "../../services/models/llm/schemas.ts";
import { ApiRoutes } from "../api_routes.ts";
import { type AppEnv, callerOf } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { anthropicErrors, json, jsonRequest } from "../schemas.ts";
import { specialRoute } from "../special_route.ts";
import { type Completions, ticketHeaders } from "./completions.ts";

/** What a provider of Anthropic's API reads of a client's headers. */
const HEADERS = ["anthropic-version", "anthropic-beta"];

const EXAMPLE = { model: "claude-opus-5-5", messages: [{ role: "user", content: "Say hello." }] };

/** What the clients of Anthropic send beside the body, whatever the route. */
const clientHeaders = ticketHeaders.extend({
  "anthropic-version": z.string().max(100).optional().openapi({
    description: "The version of Anthropic's API; 2023-06-01 by default",
  }),
  "anthropic-beta": z.string().max(4000).optional().openapi({
    description: "Features of Anthropic's API, separated by commas; passed to the provider",
  }),
});

const modelSchema = z.object({
  type: z.literal("model"),
  id: z.string().openapi({ description: "The model's name in requests" }),
  display_name: z.string(),
  created_at: z.string().openapi({ description: "Always 1970: backends do not report it" }),
}).openapi("AnthropicModel");

const listSchema = z.object({
  data: z.array(modelSchema),
  has_more: z.literal(false),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
}).openapi("AnthropicModelList");

const create = specialRoute("POST /v1/llm/anthropic/v1/messages", {
  operationId: "createMessage",
  summary: "Have a model answer, for clients of Anthropic's Messages API",
  description: "The token may also be in the header `x-api-key`.",
  request: {
    headers: clientHeaders,
    body: jsonRequest(messagesRequestSchema, { ...EXAMPLE, max_tokens: 100 }),
  },
  responses: {
    200: {
      description: "The message; with `stream: true` its server-sent events",
      content: {
        "application/json": { schema: z.looseObject({}) },
        "text/event-stream": { schema: z.string() },
      },
    },
    ...anthropicErrors(400, 401, 403, 404, 413, 422, 429, 500, 502, 503, 504),
  },
});

const count = specialRoute("POST /v1/llm/anthropic/v1/messages/count_tokens", {
  operationId: "countMessageTokens",
  summary: "Count the tokens of a request, for clients of Anthropic's Messages API",
  description: "Where the backend is not of Anthropic's kind, it is an estimate.",
  request: { headers: clientHeaders, body: jsonRequest(countRequestSchema, EXAMPLE) },
  responses: {
    200: json(z.object({ input_tokens: z.int() }), "The number of tokens"),
    ...anthropicErrors(400, 401, 403, 404, 413, 422, 429, 500, 502, 503, 504),
  },
});

const listModels = specialRoute("GET /v1/llm/anthropic/v1/models", {
  operationId: "listAnthropicModels",
  summary: "List the models of all backends, for clients of Anthropic's API",
  responses: {
    200: json(listSchema, "Each by the shortest name that a request may give it, all on one page"),
    ...anthropicErrors(401, 403, 429, 500, 503),
  },
});

const getModel = specialRoute("GET /v1/llm/anthropic/v1/models/{model}", {
  operationId: "getAnthropicModel",
  summary: "One of these models, for clients of Anthropic's API",
  request: {
    params: z.object({
      model: z.string().openapi({
        description: "`backend/model`, or the model's name alone; slashes may be written as %2F",
        example: "main/claude-opus-5-5",
      }),
    }),
  },
  responses: {
    200: json(modelSchema, "The model"),
    ...anthropicErrors(401, 403, 404, 429, 500, 503),
  },
});

/** `/v1/llm/anthropic…`: the base URL for Anthropic's SDKs and Claude Code. */
export function anthropicRoutes({ gateway }: Llm, completions: Completions) {
  return new ApiRoutes()
    .openapi(
      create,
      (context) =>
        completions.answer(context, context.req.valid("json"), context.req.valid("header"), {
          format: "messages",
          headers: headersOf(context),
        }),
    )
    .openapi(count, async (context) => {
      const request = context.req.valid("json");
      const counted = await completions.wait(
        context,
        (signal) => gateway.countTokens(request, callerOf(context), signal, headersOf(context)),
      );
      return context.json(counted, 200);
    })
    .openapi(listModels, async (context) => {
      const models = await completions.wait(context, (signal) => gateway.allModels(signal));
      const data = shortNames(models).map(shown);
      const [first = null, last = null] = [data[0]?.id, data.at(-1)?.id];
      return context.json({ data, has_more: false as const, first_id: first, last_id: last }, 200);
    })
    .openapi(getModel, async (context) => {
      const { model: name } = context.req.valid("param");
      await completions.wait(context, (signal) => gateway.model(name, signal));
      return context.json(shown(name), 200);
    });
}

function headersOf({ req }: Context<AppEnv>): Record<string, string> {
  const given = HEADERS.map((name) => [name, req.header(name) ?? ""] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== ""));
}

/**
 * The names of models, without that of the backend where it is not needed: some clients know a model
 * by how its name begins.
 */
function shortNames(models: readonly KnownModel[]): string[] {
  const taken = new Set<string>();
  return models.map(({ id, backend }) => {
    const name = id.slice(backend.length + 1);
    if (name.includes("/") || taken.has(name)) return id;
    taken.add(name);
    return name;
  });
}

function shown(id: string) {
  return {
    type: "model" as const,
    id,
    display_name: id,
    created_at: "1970-01-01T00:00:00Z",
  };
}
