import type { Endpoint } from "../credentials.ts";
import { isObject, type JsonObject } from "../json.ts";

/** A request in the common chat-completions format to one model of one backend. */
export interface ChatCall {
  /** The request, without `backend`, and with the model's own name. */
  readonly request: JsonObject;
  readonly endpoint: Endpoint;
  /** Sends requests to the provider within the bounds of the exchange. */
  readonly fetch: typeof globalThis.fetch;
}

/**
 * Calls the API of a kind of provider. Input and output are in the common chat-completions format.
 * Both methods fail with `Invalid` if the API cannot express the request, and with any other error
 * if the answer cannot be read.
 */
export interface ChatApi {
  /** Returns the `chat.completion` object. */
  complete(call: ChatCall): Promise<JsonObject>;
  /**
   * Yields the `chat.completion.chunk` objects. If the provider reports tokens, the last one,
   * without choices, has them, whether requested or not.
   */
  stream(call: ChatCall): AsyncIterable<JsonObject>;
}

/** The tokens of a call; null if the provider did not report them. */
export interface TokenUsage {
  readonly prompt: number | null;
  readonly completion: number | null;
  /** The part of the prompt that came from the provider's cache. */
  readonly cached: number | null;
}

export const UNKNOWN_USAGE: TokenUsage = Object.freeze({
  prompt: null,
  completion: null,
  cached: null,
});

/** The tokens in a completion or a chunk. */
export function usageOf({ usage }: JsonObject): TokenUsage {
  if (!isObject(usage)) return UNKNOWN_USAGE;
  const { prompt_tokens_details: details } = usage;
  return {
    prompt: count(usage["prompt_tokens"]),
    completion: count(usage["completion_tokens"]),
    cached: isObject(details) ? count(details["cached_tokens"]) : null,
  };
}

/** The error for a stream that stops without its end mark. */
export function cutShort(): Error {
  return new Error("The stream stopped before its end");
}

/** The headers for an API with the key as a Bearer token. */
export function bearerHeaders({ credentials }: Endpoint): Record<string, string> {
  return credentials.kind === "key" ? { authorization: `Bearer ${credentials.key}` } : {};
}

/** The API key; empty for a provider without keys. */
export function keyOf({ credentials }: Endpoint): string {
  return credentials.kind === "key" ? credentials.key : "";
}

/** The address of a version of an API; the base may already end in it. */
export function versioned(baseUrl: string, version: string): string {
  return baseUrl.endsWith(`/${version}`) ? baseUrl : `${baseUrl}/${version}`;
}

function count(value: unknown): number | null {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null;
}
