import { EventSourceParserStream } from "eventsource-parser/stream";
import { isObject, type JsonObject, parseObject } from "../json.ts";
import { bearerHeaders, type ChatApi, type ChatCall, cutShort } from "./chat.ts";

/** The longest event of a stream, in characters. */
const MAX_EVENT_LENGTH = 1_048_576;

/** Providers whose API is the common format: requests and answers pass unchanged. */
export const openai: ChatApi = Object.freeze({
  async complete(call: ChatCall): Promise<JsonObject> {
    const response = await post(call, call.request);
    return parseObject(await response.text());
  },

  async *stream(call: ChatCall): AsyncGenerator<JsonObject> {
    const { body } = await post(call, askingForUsage(call));
    if (body === null) throw cutShort();
    const events = body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream({ maxBufferSize: MAX_EVENT_LENGTH }));
    let finished = false;
    for await (const { data } of events) {
      if (data === "[DONE]") return;
      const chunk = parseObject(data);
      if (chunk["error"] !== undefined && chunk["error"] !== null) throw chunk;
      finished ||= tellsEnd(chunk);
      yield chunk;
    }
    if (!finished) throw cutShort();
  },
});

function post({ endpoint, fetch }: ChatCall, request: JsonObject): Promise<Response> {
  return fetch(`${endpoint.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...bearerHeaders(endpoint) },
    body: JSON.stringify(request),
  });
}

/** Not every provider ends its streams with `[DONE]`, but every one says why it ended. */
function tellsEnd({ choices }: JsonObject): boolean {
  return Array.isArray(choices) &&
    choices.some((choice) => typeof choice?.finish_reason === "string");
}

/**
 * Requests the tokens at the end of a stream, if the provider is known to support it, whatever the
 * caller says: they count in the ledger.
 */
function askingForUsage({ request, endpoint }: ChatCall): JsonObject {
  const options = request["stream_options"] ?? {};
  if (!endpoint.provider.countsStreams || !isObject(options)) return request;
  return { ...request, stream_options: { ...options, include_usage: true } };
}
