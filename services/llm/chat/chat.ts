import type { Endpoint } from "../credentials.ts";
import { isObject, type JsonObject } from "../json.ts";

/** A request in the common chat-completions format, on its way to one model of one backend. */
export interface ChatCall {
  /** The request, without `backend`, and with the model's own name. */
  readonly request: JsonObject;
  readonly endpoint: Endpoint;
  /** Reaches the provider within the bounds of the exchange. */
  readonly fetch: typeof globalThis.fetch;
}

/**
 * Speaks to the API of a kind of provider. What goes in and what comes out is the common
 * chat-completions format. Both fail with `Invalid` where the API has no way to say what the
 * request says; with any other error where the answer cannot be read.
 */
export interface ChatApi {
  /** Gives the `chat.completion` object. */
  complete(call: ChatCall): Promise<JsonObject>;
  /**
   * Gives the `chat.completion.chunk` objects. Where the provider tells them, the last one without
   * choices has the tokens, whether the request asked for it or not.
   */
  stream(call: ChatCall): AsyncIterable<JsonObject>;
}

/** The tokens that a call cost; null where the provider did not tell. */
export interface TokenUsage {
  readonly prompt: number | null;
  readonly completion: number | null;
}

export const UNKNOWN_USAGE: TokenUsage = Object.freeze({ prompt: null, completion: null });

/** The tokens that a completion or a chunk tells of. */
export function usageOf({ usage }: JsonObject): TokenUsage {
  if (!isObject(usage)) return UNKNOWN_USAGE;
  return { prompt: count(usage["prompt_tokens"]), completion: count(usage["completion_tokens"]) };
}

/** The error for a stream that stops without having said that it is over. */
export function cutShort(): Error {
  return new Error("The stream stopped before its end");
}

/** The headers that open an API which takes the key as a Bearer token. */
export function bearerHeaders({ credentials }: Endpoint): Record<string, string> {
  return credentials.kind === "key" ? { authorization: `Bearer ${credentials.key}` } : {};
}

/** The API key; empty for a provider without keys. */
export function keyOf({ credentials }: Endpoint): string {
  return credentials.kind === "key" ? credentials.key : "";
}

/** The address of a version of an API, whether its base already ends in it or not. */
export function versioned(baseUrl: string, version: string): string {
  return baseUrl.endsWith(`/${version}`) ? baseUrl : `${baseUrl}/${version}`;
}

function count(value: unknown): number | null {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null;
}
