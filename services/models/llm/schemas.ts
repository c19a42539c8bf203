import { z } from "zod";
import { definitionProblem, keyVariableProblem } from "./catalog.ts";

/** Most messages of a request, or parts of its input. */
const MAX_PARTS = 100_000;

/** An input that is one text: the body bounds it, as it bounds the texts of messages. */
const text = z.string().max(67_108_864);

const model = z.string().min(1).max(2048).describe(
  'The model, or "backend/model"; it also decides which backend answers',
);

const stream = z.boolean().nullish().describe("Whether the answer comes as server-sent events");

const messages = z.array(z.unknown()).min(1, { error: "must not be empty" }).max(MAX_PARTS);

/** A chat-completions request. Other fields are passed on unread. */
export const completionRequestSchema = z.looseObject({
  messages,
  model: model.optional(),
  backend: z.string().optional().describe("The name of the backend that shall answer"),
  stream,
});
export type CompletionRequest = z.infer<typeof completionRequestSchema>;

/** A request of Anthropic's Messages API. Other fields are passed on unread. */
export const messagesRequestSchema = z.looseObject({ model, messages, stream });

/** A request to count the tokens of such a request. */
export const countRequestSchema = z.looseObject({ model, messages });

/** A request of OpenAI's Responses API. Other fields are passed on unread. */
export const responsesRequestSchema = z.looseObject({
  model,
  input: z.union([text, z.array(z.unknown()).max(MAX_PARTS)], {
    error: "must be a text, or a list",
  }).optional(),
  stream,
});

/** A request of OpenAI's Embeddings API. Other fields are passed on unread. */
export const embeddingsRequestSchema = z.looseObject({
  model,
  input: z.union([text, z.array(z.unknown()).min(1).max(MAX_PARTS)], {
    error: "must be a text, or a list of them",
  }),
  stream: z.never({ error: "is not taken: embeddings come as a whole" })
    .meta({ type: "null", not: {}, description: "Never taken" }).optional(),
});

/** A request to a model, in whichever format. */
export interface ModelRequest {
  readonly model?: string | undefined;
  readonly backend?: string | undefined;
  readonly stream?: boolean | null | undefined;
  readonly [field: string]: unknown;
}

const MAX_MODELS = 1000;
const MAX_PATTERNS = 100;

const slug = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/, {
  error: "must be 1 to 64 small letters, digits and hyphens, with no hyphen at either end",
});

const baseUrl = z.string().max(2048).refine(isBaseUrl, {
  error: "must be an http or https URL without user, query and fragment, or empty",
}).meta({ pattern: "^(?:https?://[^\\x00-\\x20?#@]+)?$" }).overwrite((text) =>
  text.replace(/(?<!\/)\/+$/, "")
)
  .describe(
    "Where the provider's API is; empty means the provider's own address",
  );

const variable = z.string().regex(/^(?:[A-Za-z_][A-Za-z0-9_]{0,127})?$/, {
  error: "must be the name of an environment variable, or empty",
}).describe("The environment variable that holds the provider's key, never the key itself");

const models = z.array(z.string().min(1).max(256)).max(MAX_MODELS, {
  error: `must be at most ${MAX_MODELS} models`,
});

const patterns = z.array(z.string().min(1).max(256)).max(MAX_PATTERNS, {
  error: `must be at most ${MAX_PATTERNS} patterns`,
});

const fields = {
  provider: slug.describe("A known provider, or any other name with a base_url"),
  base_url: baseUrl,
  api_key_env: variable,
  models: models.describe("Models that it is known to have until it is asked"),
  allow: patterns.describe('Models to let through, with "*" and "?"; none means all'),
  block: patterns.describe('Models to refuse, with "*" and "?"; stronger than allow'),
};

const noKey = z.never({
  error: "is not taken: a key stays in the environment, and api_key_env names its variable",
}).meta({ type: "null", not: {}, description: "Never taken; a key stays in the environment" })
  .optional();

const definition = {
  name: slug,
  provider: fields.provider,
  base_url: fields.base_url.default(""),
  api_key_env: fields.api_key_env.default(""),
  models: fields.models.default([]),
  allow: fields.allow.default([]),
  block: fields.block.default([]),
};

/** The request for a new backend. */
export const backendRequestSchema = z.object({ ...definition, api_key: noKey });
export type BackendRequest = z.infer<typeof backendRequestSchema>;

/** The request to change a backend; missing fields stay. */
export const backendChangeSchema = z.object({ ...fields, name: slug, api_key: noKey }).partial();
export type BackendChange = z.infer<typeof backendChangeSchema>;

/** The stored definition of a backend. */
export type BackendDefinition = Readonly<Omit<BackendRequest, "api_key">>;

/** The backends of a configuration file. */
export const configuredBackendsSchema = z.array(
  z.strictObject(definition).superRefine((backend, context) => {
    const message = definitionProblem(backend);
    if (message !== null) context.addIssue({ code: "custom", path: ["base_url"], message });
    // The operator wrote it; but muster's own secrets go to nobody.
    const own = keyVariableProblem(backend.api_key_env, [backend.api_key_env]);
    if (own !== null) context.addIssue({ code: "custom", path: ["api_key_env"], message: own });
  }),
).max(100).superRefine((backends, context) => {
  const names = new Set<string>();
  for (const [index, { name }] of backends.entries()) {
    if (names.has(name)) {
      context.addIssue({ code: "custom", path: [index, "name"], message: `"${name}" is taken` });
    }
    names.add(name);
  }
});

function isBaseUrl(text: string): boolean {
  if (text === "") return true;
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" &&
    url.password === "" && !/[?#\s]/.test(text);
}
