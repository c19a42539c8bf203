import { AwsV4Signer } from "aws4fetch";
import { z } from "zod";
import type { ProviderApi } from "./catalog.ts";
import { bearerHeaders, keyOf, versioned } from "./chat/chat.ts";
import { controlPlane, type Endpoint } from "./credentials.ts";
import { parseJson } from "./json.ts";
import { requireNoError } from "./told.ts";

/** Bounds of one list of models. */
const MAX_PAGES = 20;
const MAX_MODELS = 10_000;

type Fetch = typeof globalThis.fetch;

const modelName = z.string().min(1).max(256);

const openaiModels = z.array(z.object({ id: modelName }));
const openaiAnswer = z.union([
  z.object({ data: openaiModels }).transform(({ data }) => data),
  openaiModels,
]);

const anthropicAnswer = z.object({
  data: z.array(z.object({ id: modelName })),
  has_more: z.boolean().default(false),
  last_id: z.string().nullish(),
});

const geminiAnswer = z.object({
  models: z.array(z.object({
    name: modelName,
    supportedGenerationMethods: z.array(z.string()).default([]),
  })),
  nextPageToken: z.string().optional(),
});

const bedrockAnswer = z.object({ modelSummaries: z.array(z.object({ modelId: modelName })) });

const ollamaAnswer = z.object({ models: z.array(z.object({ name: modelName })) });

/** One page of a list, and where the next one is. */
interface Page {
  readonly models: readonly string[];
  readonly next: string | null;
}

const READ_PAGE: Readonly<Record<ProviderApi, (endpoint: Endpoint, next: string) => Query>> = Object
  .freeze({
    openai: (endpoint) => ({
      url: `${endpoint.baseUrl}/models`,
      headers: bearerHeaders(endpoint),
      read: (answer) => lastPage(openaiAnswer.parse(answer).map(({ id }) => id)),
    }),
    anthropic: (endpoint, next) => ({
      url: `${versioned(endpoint.baseUrl, "v1")}/models?limit=1000${parameter("after_id", next)}`,
      headers: { "x-api-key": keyOf(endpoint), "anthropic-version": "2023-06-01" },
      read: (answer) => {
        const { data, has_more: more, last_id: last } = anthropicAnswer.parse(answer);
        return { models: data.map(({ id }) => id), next: more ? last ?? null : null };
      },
    }),
    gemini: (endpoint, next) => ({
      url: `${versioned(endpoint.baseUrl, "v1beta")}/models?pageSize=1000` +
        parameter("pageToken", next),
      headers: { "x-goog-api-key": keyOf(endpoint) },
      read: (answer) => {
        const { models, nextPageToken } = geminiAnswer.parse(answer);
        const chatting = models.filter(({ supportedGenerationMethods: methods }) =>
          methods.includes("generateContent")
        );
        return {
          models: chatting.map(({ name }) => name.replace(/^models\//, "")),
          next: nextPageToken ?? null,
        };
      },
    }),
    bedrock: (endpoint) => ({
      url: `${controlPlane(endpoint)}/foundation-models`,
      headers: bearerHeaders(endpoint),
      read: (answer) => {
        const { modelSummaries } = bedrockAnswer.parse(answer);
        return lastPage(modelSummaries.map(({ modelId }) => modelId));
      },
    }),
    ollama: (endpoint) => ({
      url: `${endpoint.baseUrl}/api/tags`,
      headers: bearerHeaders(endpoint),
      read: (answer) => lastPage(ollamaAnswer.parse(answer).models.map(({ name }) => name)),
    }),
  });

interface Query {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly read: (answer: unknown) => Page;
}

/** Lists a provider's models, in its order, without duplicates. */
export async function listModels(endpoint: Endpoint, fetch: Fetch): Promise<string[]> {
  const models = new Set<string>();
  let next: string | null = "";
  for (let page = 0; next !== null && page < MAX_PAGES; page++) {
    const query: Query = READ_PAGE[endpoint.provider.api](endpoint, next);
    const headers = await signed(query, endpoint);
    const response = await fetch(query.url, { headers });
    const told = parseJson(await response.text());
    requireNoError(told);
    const answer = query.read(told);
    for (const model of answer.models) models.add(model);
    next = answer.next;
  }
  if (next !== null || models.size > MAX_MODELS) throw new Error("It lists too many models");
  return [...models];
}

/** The headers of a request, with AWS's signature if needed (Signature Version 4). */
async function signed(
  { url, headers }: Query,
  { credentials, region }: Endpoint,
): Promise<Headers> {
  if (credentials.kind !== "aws") return new Headers(headers);
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const signer = new AwsV4Signer({
    url,
    accessKeyId,
    secretAccessKey,
    ...sessionToken === null ? {} : { sessionToken },
    service: "bedrock",
    region,
  });
  return (await signer.sign()).headers;
}

function lastPage(models: readonly string[]): Page {
  return { models, next: null };
}

function parameter(name: string, value: string): string {
  return value === "" ? "" : `&${name}=${encodeURIComponent(value)}`;
}
