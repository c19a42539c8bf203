import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { CommandOptions } from "./options.ts";
import { print, table, visible } from "./output.ts";

const backendSchema = z.object({
  name: z.string(),
  provider: z.string(),
  base_url: z.string(),
  api_key_env: z.string(),
  models: z.array(z.string()),
  source: z.string(),
});

/** `muster backend list`. */
export async function listBackends(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const backends = await client.call("GET", "/v1/llm/backends", z.array(backendSchema.loose()));
  if (options.json === true) return print(JSON.stringify(backends, null, 2));
  const rows = backends.map((backend) => [
    backend.name,
    backend.provider,
    backend.base_url || "(the provider's)",
    backend.api_key_env || "(the provider's)",
    backend.source,
    String(backend.models.length),
  ]);
  print(table(["NAME", "PROVIDER", "ADDRESS", "KEY VARIABLE", "SOURCE", "MODELS"], rows));
}

/** `muster backend add`. */
export async function addBackend(
  name: string,
  provider: string,
  options: CommandOptions,
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
export async function removeBackend(name: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  await client.call("DELETE", pathOf(name), z.undefined());
}

/** `muster backend models`: asks the provider. */
export async function listModels(name: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const models = await client.call("GET", `${pathOf(name)}/models`, z.array(z.string()));
  if (options.json === true) return print(JSON.stringify(models, null, 2));
  for (const model of models) print(visible(model));
}

function pathOf(name: string): string {
  return `/v1/llm/backends/${encodeURIComponent(name)}`;
}

function listOf(text: string): string[] {
  return text.split(",").map((entry) => entry.trim()).filter(Boolean);
}
