import type { Endpoint } from "../credentials.ts";
import type { JsonObject } from "../json.ts";

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
