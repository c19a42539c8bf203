import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Group } from "./command_line/mod.ts";
import { type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { print, printJson, table, visible } from "./output.ts";

interface AddOptions extends CommandOptions {
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  readonly allow?: string;
  readonly block?: string;
}

const backendSchema = z.object({
  name: z.string(),
  provider: z.string(),
  base_url: z.string(),
  api_key_env: z.string(),
  models: z.array(z.string()),
  source: z.string(),
});

/** `muster backend list`. */
async function listBackends(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const backends = await client.call("GET", "/v1/llm/backends", z.array(backendSchema.loose()));
  if (options.json === true) return printJson(backends);
  const rows = backends.map((backend) => [
    backend.name,
    backend.provider,
    backend.base_url || "(the provider's)",
    backend.api_key_env || "(the provider's)",
    backend.source,
    // The list is from the last live query, so an empty one means nothing.
    backend.models.length === 0 ? "-" : String(backend.models.length),
  ]);
  print(table(["NAME", "PROVIDER", "ADDRESS", "KEY VARIABLE", "SOURCE", "MODELS"], rows));
}

/** `muster backend add`. */
async function addBackend(
  name: string,
  provider: string,
  options: AddOptions,
): Promise<void> {
  const client = await ApiClient.connect(options);
  const created = await client.call("POST", "/v1/llm/backends", backendSchema, {
    name,
    provider,
    ...options.baseUrl === undefined ? {} : { base_url: options.baseUrl },
    ...options.apiKeyEnv === undefined ? {} : { api_key_env: options.apiKeyEnv },
    ...options.allow === undefined ? {} : { allow: listOf(options.allow) },
    ...options.block === undefined ? {} : { block: listOf(options.block) },
  });
  print(`backend   ${created.name}`);
  print(`provider  ${created.provider}`);
}

/** `muster backend remove`. */
async function removeBackend(name: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  await client.call("DELETE", pathOf(name), z.undefined());
}

/** `muster backend models`: queries the provider. */
async function listModels(name: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const models = await client.call("GET", `${pathOf(name)}/models`, z.array(z.string()));
  if (options.json === true) return printJson(models);
  for (const model of models) print(visible(model));
}

function pathOf(name: string): string {
  return `/v1/llm/backends/${encodeURIComponent(name)}`;
}

function listOf(text: string): string[] {
  return text.split(",").map((entry) => entry.trim()).filter(Boolean);
}

const NAME = { usage: "<name>" };

/** `muster backend`: backends of language models. */
export const BACKEND: Group = {
  commands: [
    {
      name: "add",
      summary: "make a backend",
      parameters: [NAME, { usage: "<provider>" }],
      options: [
        {
          flags: "--base-url <url>",
          summary: "the address of its API (default: the provider's)",
        },
        {
          flags: "--api-key-env <name>",
          summary: "the server's environment variable that holds the key",
        },
        {
          flags: "--allow <patterns>",
          summary: "models to allow, such as gpt-*, separated by commas",
        },
        {
          flags: "--block <patterns>",
          summary: "models to refuse, separated by commas",
        },
        URL_OPTION,
      ],
      notes: ["With --base-url, any provider with an API in OpenAI's format works."],
      run: addBackend,
    },
    {
      name: "list",
      summary: "list all backends; the first one is the default",
      options: [JSON_OPTION, URL_OPTION],
      run: listBackends,
    },
    {
      name: "models",
      summary: "list the models of a backend's provider",
      parameters: [NAME],
      options: [JSON_OPTION, URL_OPTION],
      run: listModels,
    },
    {
      name: "remove",
      summary: "remove a backend",
      parameters: [NAME],
      options: [URL_OPTION],
      run: removeBackend,
    },
  ],
  examples: [
    {
      line: "backend add claude anthropic --api-key-env ANTHROPIC_API_KEY",
      purpose: "Add a backend whose key is in the server's environment",
    },
    { line: "backend models claude", purpose: "List its models" },
  ],
};
