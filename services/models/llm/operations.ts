import { z } from "zod";
import {
  Conflict,
  NotFound,
  TimedOut,
  TooMany,
  Unavailable,
  UpstreamFailed,
} from "../../kernel/errors.ts";
import { Created, serverOperation } from "../../people/identity/server_operation.ts";
import type { Llm } from "./mod.ts";
import { backendChangeSchema, backendRequestSchema } from "./schemas.ts";

/** What the operations on backends of language models call. */
interface ModelServices {
  readonly llm: Llm;
}

const backendSchema = z.object({
  name: z.string(),
  provider: z.string(),
  base_url: z.string().meta({ description: "Empty for the provider's default address" }),
  api_key_env: z.string().meta({
    description: "The environment variable with the provider's key",
  }),
  models: z.array(z.string()).meta({ description: "The result of the last live query" }),
  allow: z.array(z.string()),
  block: z.array(z.string()),
  source: z.enum(["configuration", "api"]),
}).meta({ id: "LlmBackend" });

const discoveredSchema = z.object({
  name: z.string(),
  provider: z.string(),
  base_url: z.string(),
  api_key_env: z.string().meta({ description: "The environment variable that is set" }),
  configured: z.boolean().meta({ description: "Whether a backend has this provider" }),
}).meta({ id: "DiscoveredLlmBackend" });

const providerSchema = z.object({
  name: z.string(),
  base_url: z.string(),
  api_key_env: z.string().meta({ description: "Empty if it usually needs no key" }),
  api: z.enum(["openai", "anthropic", "gemini", "bedrock", "ollama"]),
}).meta({ id: "LlmProvider" });

const byName = z.object({ name: z.string() });
const theBackend = { schema: backendSchema, description: "The backend" };
const unknown = { error: NotFound };
const contradicts = { error: Conflict };

export const listModelBackends = serverOperation({
  http: "GET /v1/llm/backends",
  on: "server",
  summary: "List the LLM backends; the first one is the default",
  input: z.object({}),
  ok: { schema: z.array(backendSchema), description: "The backends; configured ones first" },
  cli: {
    at: "backend list",
    about: "list all backends; the first one is the default",
    columns: [
      "name",
      "provider",
      `ADDRESS: {base_url|"(the provider's)"}`,
      `KEY VARIABLE: {api_key_env|"(the provider's)"}`,
      "source",
      // The list is from the last live query, so an empty one means nothing.
      'MODELS: {models:count|"-"}',
    ],
  },
}, ({ llm }: ModelServices) => llm.backends.list());

export const createModelBackend = serverOperation(
  {
    http: "POST /v1/llm/backends",
    on: "server",
    summary: "Make an LLM backend",
    input: backendRequestSchema,
    bodyName: "LlmBackendRequest",
    example: { name: "main", provider: "openai", api_key_env: "OPENAI_API_KEY" },
    created: theBackend,
    refusals: [contradicts, { error: TooMany }],
    cli: {
      at: "backend add <name> <provider>",
      about: "make a backend",
      options: {
        base_url: {
          flags: "--base-url <url>",
          about: "the address of its API (default: the provider's)",
        },
        api_key_env: {
          flags: "--api-key-env <name>",
          about: "the server's environment variable that holds the key",
        },
        allow: {
          flags: "--allow <patterns>",
          about: "models to allow, such as gpt-*, separated by commas",
        },
        block: { flags: "--block <patterns>", about: "models to refuse, separated by commas" },
      },
      fields: ["backend: {name}", "provider"],
      notes: ["With --base-url, any provider with an API in OpenAI's format works."],
      examples: [{
        line: "backend add claude anthropic --api-key-env ANTHROPIC_API_KEY",
        purpose: "Add a backend whose key is in the server's environment",
      }],
    },
  },
  async ({ llm }: ModelServices, request, { caller }) =>
    new Created(await llm.backends.create(request, caller)),
);

export const changeModelBackend = serverOperation(
  {
    http: "PUT /v1/llm/backends/{name}",
    on: "server",
    summary: "Change the given fields of an LLM backend",
    input: byName.extend({ change: backendChangeSchema.meta({ id: "LlmBackendChange" }) }),
    bodyField: "change",
    example: { allow: ["gpt-*"] },
    ok: theBackend,
    refusals: [unknown, contradicts],
  },
  ({ llm }: ModelServices, { name, change }, { caller }) =>
    llm.backends.change(name, change, caller),
);

export const deleteModelBackend = serverOperation({
  http: "DELETE /v1/llm/backends/{name}",
  on: "server",
  summary: "Remove an LLM backend",
  input: byName,
  done: "Removed",
  refusals: [unknown, contradicts],
  cli: { at: "backend remove <name>", about: "remove a backend" },
}, async ({ llm: { backends, gateway } }: ModelServices, { name }, { caller }) => {
  await backends.delete(name, caller);
  gateway.forget(name);
});

export const listBackendModels = serverOperation({
  http: "GET /v1/llm/backends/{name}/models",
  on: "server",
  waits: "always",
  summary: "List the models of a backend's provider",
  input: byName,
  ok: { schema: z.array(z.string()), description: "The allowed models, in the provider's order" },
  refusals: [unknown, { error: UpstreamFailed }, { error: Unavailable }, { error: TimedOut }],
  cli: {
    at: "backend models <name>",
    about: "list the models of a backend's provider",
    says: "{}",
    examples: [{ line: "backend models claude", purpose: "List its models" }],
  },
}, ({ llm: { gateway } }: ModelServices, { name }, { end }) => {
  const controller = new AbortController();
  end.onEnd = () => controller.abort();
  if (end.isOver) controller.abort();
  return gateway.models(name, controller.signal);
});

export const discoverModels = serverOperation({
  http: "POST /v1/llm/discover",
  on: "server",
  whileFull: true,
  summary: "List the providers with a key in the environment",
  input: z.object({}),
  ok: { schema: z.array(discoveredSchema), description: "The providers; no backends are made" },
}, ({ llm }: ModelServices) => llm.backends.discover());

export const listModelProviders = serverOperation({
  http: "GET /v1/llm/known",
  on: "server",
  summary: "List the providers that muster knows",
  input: z.object({}),
  ok: { schema: z.array(providerSchema), description: "The providers, by name" },
}, ({ llm }: ModelServices) => llm.backends.known());
